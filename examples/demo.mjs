// `npm run demo -- FILE...` — one session's files, from upload to what is kept of them, each step checked by means of Node's own.
// Progress goes to stderr, results to stdout. Ends with 1 if anything differs from what it should be.
import { createReadStream, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { localDir, localHost } from "@little-stack/files";
import { Checks } from "./demo/checks.mjs";
import { digestOfFile, digestOfStream, digestOfText } from "./demo/digest.mjs";
import { hostilePaths } from "./demo/hostile.mjs";
import { inputFiles } from "./demo/inputs.mjs";
import { following, step } from "./demo/progress.mjs";
import { slowServer } from "./demo/server.mjs";
import { table } from "./demo/table.mjs";

const inputs = await inputFiles(process.argv.slice(2));
const checks = new Checks();
const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, name: `row ${id}`, even: id % 2 === 0, score: id / 7 }));
const rowsAsJSON = Buffer.from(JSON.stringify(rows, null, 2));
const refs = []; // { ref, digest }: what the library says, what node:crypto says

const place = await mkdtemp(join(tmpdir(), "little-files-demo-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true })); // however it ends
process.once("SIGINT", () => process.exit(130));

await mkdir(join(place, "outside"));
const notes = join(place, "notes");
const persistentDirs = [localDir({ harnessDir: "/persistent/notes", sourceDir: notes })];
const host = localHost({ dataDir: join(place, "data"), persistentDirs });
const session = await host.sessions.getOrCreate({ id: "demo", metadata: { user: "you" } });
const { files } = session;

await stageUploads();
await stageResponse();
await writeRows();
await showRefs();
await readBack();
await removeOne();
await keepNotes();
await tryHostilePaths();

await session.flush();
await host.close();
process.exitCode = checks.report();

/** Each file as a user's upload, from a stream. */
async function stageUploads() {
  for (const [index, { file, bytes, name }] of inputs.entries()) {
    const stream = createReadStream(file);
    const path = `/session/user-input/${index + 1}/${name}`;
    const ref = await following(
      `Staging ${basename(file)}`,
      bytes,
      () => stream.bytesRead,
      () => files.write(path, stream, { source: "user-message", metadata: { originalName: name } }),
    );
    refs.push({ ref, digest: await digestOfFile(file) });
  }
}

/** The body of an HTTP response, as it comes in: chunked, a bit at a time. */
async function stageResponse() {
  const server = await slowServer();
  try {
    const response = await fetch(server.url);
    const mediaType = response.headers.get("content-type");
    const ref = await following(
      "Staging a slow HTTP response",
      server.bytes,
      () => server.sent,
      () => files.write("/session/downloads/readings.csv", response.body, { mediaType, source: "app-context" }),
    );
    refs.push({ ref, digest: server.digest() });
  } finally {
    await server.close();
  }
}

async function writeRows() {
  const artifact = { name: "Rows", metadata: { rows: rows.length } };
  const ref = await step("Writing 100,000 rows as JSON", () =>
    files.writeJSON("/artifacts/rows.json", rows, { artifact }),
  );
  refs.push({ ref, digest: await digestOfStream([rowsAsJSON]) });
}

async function showRefs() {
  const lines = refs.map(({ ref, digest }) => {
    const same =
      checks.equal(`sha256 of ${ref.path}`, ref.sha256, digest.sha256) &&
      checks.equal(`size of ${ref.path}`, ref.bytes, digest.bytes);
    return [
      ref.path,
      ref.bytes.toLocaleString("en"),
      ref.mediaType ?? "",
      `${ref.sha256.slice(0, 16)}…`,
      same ? "same" : "DIFFERS",
    ];
  });
  table(
    "What was written, each sha256 beside one by node:crypto over the source",
    ["path", "bytes", "media type", "sha256", "node:crypto"],
    lines,
  );

  const listed = [...(await files.list("/session", { recursive: true })), ...(await files.list("/artifacts"))];
  const found = listed.filter(({ kind }) => kind === "file").map(({ path }) => path);
  checks.equal(
    "paths listed",
    found.join("\n"),
    refs
      .map(({ ref }) => ref.path)
      .sort(byBytes)
      .join("\n"),
  );
  const artifacts = await session.artifacts.list();
  checks.equal("artifacts", artifacts.map(({ name }) => name).join(), "Rows");
  console.log(
    `\nListed: ${found.length} files, of which ${artifacts.length} is an artifact (${artifacts[0]?.path}, "${artifacts[0]?.name}")`,
  );
}

/** `list` sorts each root by bytes; /session was asked for first. */
function byBytes(a, b) {
  const root = (path) => (path.startsWith("/session/") ? 0 : 1);
  return root(a) - root(b) || Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function readBack() {
  const range = { start: 5_000_000, end: 5_004_096 };
  const part = await files.read("/artifacts/rows.json", { range });
  checks.equal("a range", Buffer.compare(part.content, rowsAsJSON.subarray(range.start, range.end)), 0);
  console.log(`Read:   bytes 5,000,000 to 5,004,096 of ${part.path}`);

  const largest = refs.reduce((a, b) => (a.ref.bytes >= b.ref.bytes ? a : b));
  const { path, sha256 } = largest.ref;
  const stream = await files.readStream(path);
  const digest = await step(`Streaming ${path} back`, () => digestOfStream(stream));
  const same = checks.equal("a stream read back", digest.sha256, sha256);
  console.log(`Stream: ${digest.bytes.toLocaleString("en")} bytes of ${path}, sha256 ${same ? "the same" : "DIFFERS"}`);
}

async function removeOne() {
  const { path } = refs[0].ref;
  await files.remove(path);
  const code = await files.stat(path).then(
    () => "still there",
    (error) => error.code,
  );
  checks.equal("stat of a removed file", code, "FS_NOT_FOUND");
  console.log(`Remove: ${path}, then ${code}`);
}

/** A turn's notes, committed to a folder outside of the session, where the next session finds them. */
async function keepNotes() {
  const path = "/persistent/notes/demo.md";
  const text = "# What the demo wrote\n";
  const turn = await session.beginTurn();
  await turn.files.writeText(path, text);
  const { persistence } = await turn.finish();
  checks.equal("the commit of the notes", persistence.status, "succeeded");
  const kept = await digestOfFile(join(notes, "demo.md"));
  checks.equal("the notes in their folder", kept.sha256, digestOfText(text).sha256);
  const next = await host.sessions.getOrCreate({ id: "next" });
  checks.equal("the notes in the next session", (await next.files.read(path)).text(), text);
  console.log(`Keep:   ${path} is in its folder and in the next session (commit: ${persistence.status})`);
}

async function tryHostilePaths() {
  const outside = join(place, "outside");
  const lines = [];
  for (const { shown, wanted, attempt } of await hostilePaths(session, outside)) {
    const got = await attempt().then(
      () => "LET THROUGH",
      (error) => error.code ?? String(error),
    );
    checks.equal(`hostile: ${shown}`, got, wanted);
    lines.push([shown, got, got === wanted ? "as it should" : `SHOULD BE ${wanted}`]);
  }
  table("What hostile paths got", ["attempt", "code", ""], lines);
  checks.equal("files outside", (await readdir(outside)).join(), "secret.txt");
  checks.equal(
    "the file outside",
    (await digestOfFile(join(outside, "secret.txt"))).sha256,
    digestOfText("not yours").sha256,
  );
}
