import { localHost } from "@little-stack/files";

const host = localHost({ dataDir: ".little-harness" });
const session = await host.sessions.getOrCreate({ id: "chat-42" });

const response = new Response("name,amount\nada,3\n"); // any stream, string, buffer, Blob or file
const upload = await session.files.write("/session/user-input/sales.csv", response.body);
console.log(upload); // { path, bytes, sha256, mediaType }: of exactly what is on the disk

await session.files.writeJSON("/artifacts/report.json", { rows: 1, total: 3 });
console.log((await session.files.read("/artifacts/report.json")).json());
await session.files.read("/session/../../etc/passwd").catch((error) => console.log(error.message)); // refused

await host.close();
