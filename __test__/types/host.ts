// Hosts and sessions.
import {
  type FileWriter,
  type HarnessSession,
  type HarnessTraceEvent,
  type LocalHost,
  type LocalHostOptions,
  type SessionInfo,
  localHost,
} from "@little-stack/files";
import { same } from "./expect.js";

interface Body {
  userId: string;
}

export async function hosts(): Promise<void> {
  const plain = localHost();
  same<typeof plain, LocalHost<unknown>>();
  const host = localHost<Body>({
    dataDir: ".data",
    durability: "write",
    quota: { sessionBytes: 1e9, fileBytes: 1e6, sessionFiles: 1000 },
    redaction: { paths: ["/session/private"], keys: ["ssn"] },
    trace: { diff: false },
    onEvent: (event) => same<typeof event, HarnessTraceEvent>(),
  });
  same<typeof host, LocalHost<Body>>();
  const session = await host.sessions.getOrCreate({ id: "a", extraBody: { userId: "u" }, metadata: { any: 1 } });
  same<typeof session, HarnessSession<Body>>();
  same<typeof session.files, FileWriter>();
  const maybe = await host.sessions.get("a");
  same<typeof maybe, HarnessSession<Body> | undefined>();
  // @ts-expect-error it may be missing
  void maybe.id;
  const infos = await host.sessions.list({ limit: 5, after: "a" });
  same<(typeof infos)[number], SessionInfo>();
  const [artifact] = await session.artifacts.list();
  if (artifact !== undefined) (await session.artifacts.read(artifact.id, { encoding: "utf8" })).text();
  const { session: folder } = session.hostPaths();
  same<typeof folder, string>();
  await session.flush();
  await session.close();
  await host.sessions.delete("a");
  await host.close();

  // @ts-expect-error an id is needed
  await host.sessions.getOrCreate({});
  // @ts-expect-error of the host's type
  await host.sessions.getOrCreate({ id: "a", extraBody: { user: 7 } });
  // @ts-expect-error no such durability
  localHost({ durability: "always" });
  // @ts-expect-error false or an object
  localHost({ trace: true });
}

export async function disposed(): Promise<void> {
  await using host = localHost();
  await using session = await host.sessions.getOrCreate({ id: "a" });
  const anyDisposable: AsyncDisposable = session;
  void [anyDisposable, host[Symbol.asyncDispose]];
}

/** What a function of the user's may say it takes. */
export function helpers(
  options: LocalHostOptions<Body>,
  session: HarnessSession,
  files: Pick<FileWriter, "read">,
): LocalHost<Body> {
  void [session.id, files.read];
  return localHost<Body>(options);
}
