// Declaring Persistent Dirs: callbacks know the host's extraBody, in both shapes; what is committed and pending is typed.
import {
  type CommitMode,
  type CustomDir,
  type FileChangeSet,
  type FileContent,
  type FileData,
  type FileMap,
  type FinishedTurn,
  type HarnessFileError,
  type HarnessSession,
  type LoadContext,
  type LocalDir,
  type PendingChange,
  type PersistenceStatus,
  PersistentDirConflict,
  type PersistentDir,
  type PersistentDirCommitResult,
  type ProjectDir,
  type StoreContext,
  type StoreDir,
  customDir,
  localDir,
  localHost,
  projectDir,
} from "@little-stack/files";
import { same } from "./expect.js";

interface Body {
  userId: string;
}

declare const database: {
  all(user: string): Promise<Map<string, Uint8Array>>;
  get(key: string): Promise<FileContent>;
  put(key: string, content: Uint8Array): Promise<{ etag: string }>;
};

export function declaredInPlace(): void {
  const host = localHost<Body>({
    projectRoot: ".",
    persistentDirs: [
      localDir({ harnessDir: "/persistent/notes", sourceDir: "notes" }),
      localDir({ harnessDir: "/persistent/skills", sourceDir: projectDir("./skills"), commit: "read-only" }),
      localDir({
        harnessDir: "/persistent/user",
        sourceDir: ({ extraBody }) => {
          same<typeof extraBody, Body | undefined>();
          return `users/${extraBody?.userId ?? "nobody"}`;
        },
      }),
      customDir({
        harnessDir: "/persistent/map",
        scope: ({ extraBody, sessionId }) => `${extraBody?.userId}/${sessionId}`,
        load: async (ctx) => {
          same<typeof ctx, LoadContext<Body>>();
          return { files: await database.all(ctx.extraBody?.userId ?? ""), cursor: 7 };
        },
        store: async (ctx) => {
          same<typeof ctx, StoreContext<Body>>();
          same<typeof ctx.changes, FileChangeSet>();
          for (const [path, content] of Object.entries(ctx.changes.created)) await database.put(path, content);
          for (const path of ctx.changes.deleted) await database.put(path, new Uint8Array());
          const [entry] = ctx.changes.entries;
          void [entry?.base?.version, entry?.base?.sha256, ctx.commitId.length, ctx.abortSignal?.aborted];
          if (ctx.cursor !== 7) throw new PersistentDirConflict(["a.md"], { cause: new Error("changed") });
          return { cursor: 8 };
        },
      }),
      customDir({
        harnessDir: "/persistent/files",
        commit: "manual",
        list: async ({ extraBody, path }) => {
          same<typeof extraBody, Body | undefined>();
          return [
            { path: `${path}/a.md`, kind: "file", version: "1" },
            { path: "b", kind: "directory" },
          ];
        },
        read: ({ path, sessionId }) => database.get(`${sessionId}/${path}`),
        write: async ({ path, content, open, ifMatch }) => {
          same<typeof content, Uint8Array>();
          same<typeof ifMatch, string | undefined>();
          void open().getReader();
          const { etag } = await database.put(path, content);
          return { version: etag };
        },
        delete: async ({ path, ifMatch }) => void (await database.put(path + (ifMatch ?? ""), new Uint8Array())),
      }),
    ],
    onPersistenceError: (failure) => {
      same<typeof failure, PersistentDirCommitResult & { sessionId: string }>();
      void [failure.harnessDir, failure.error?.code, failure.sessionId];
    },
  });
  void host;
}

export function declaredBefore(): void {
  const anyBody = localDir({ harnessDir: "/persistent/a", sourceDir: "a" });
  same<typeof anyBody, LocalDir<unknown>>();
  const typed = customDir<Body>({
    harnessDir: "/persistent/b",
    commit: "read-only",
    load: async () => ({ "a.md": "" }),
  });
  same<typeof typed, CustomDir<Body>>();
  const source: ProjectDir = projectDir("skills");
  const dirs: PersistentDir<Body>[] = [anyBody, typed, localDir({ harnessDir: "/persistent/c", sourceDir: source })];
  void localHost<Body>({ persistentDirs: dirs });
  // The body's type comes from the dirs.
  const host = localHost({ persistentDirs: [typed] });
  same<
    typeof host extends { sessions: { getOrCreate(options: infer O): unknown } } ? O : never,
    {
      id: string;
      extraBody?: Body;
      metadata?: Record<string, unknown>;
    }
  >();
  // @ts-expect-error of another body
  void localHost<{ tenant: number }>({ persistentDirs: [typed] });
  // @ts-expect-error what Little Harness made is not enough
  void localHost({ persistentDirs: [{ kind: "custom", load: async () => ({}) }] });
}

export function contents(stream: ReadableStream<Uint8Array>): void {
  const maps: FileMap[] = [
    { "a.md": "text", "b.bin": new Uint8Array() },
    new Map<string, FileContent>([["a", stream]]),
    new Map([["a", "text"]]),
  ];
  async function* pairs(): AsyncGenerator<readonly [string, FileContent]> {
    yield ["a", stream];
  }
  const harnessDir = "/persistent/a";
  const commit = "read-only";
  customDir({ harnessDir, commit, load: async () => maps[0] ?? {} });
  customDir({ harnessDir, commit, load: async () => ({ files: pairs() }) });
  customDir({ harnessDir, commit, load: async () => ({ files: [["a", "text"] as const], cursor: { any: 1 } }) });
  // @ts-expect-error a record holds text or bytes
  customDir({ harnessDir, commit, load: async () => ({ a: 7 }) });
  // @ts-expect-error load or list
  customDir({ harnessDir, commit });
  // @ts-expect-error no such mode
  customDir({ harnessDir, commit: "always", load: async () => ({}) });
  // @ts-expect-error a source is needed
  localDir({ harnessDir });
}

export async function persistence(session: HarnessSession<Body>): Promise<void> {
  const [change] = await session.persistence.pending();
  same<typeof change, PendingChange | undefined>();
  const mode: "created" | "updated" | "deleted" | undefined = change?.change;
  void [mode, change?.since.getTime(), change?.lastError?.code];
  const status = await session.persistence.commit({
    harnessDirs: ["/persistent/user"],
    extraBody: { userId: "u" },
    signal: AbortSignal.timeout(1000),
  });
  same<typeof status, PersistenceStatus>();
  if (status.status === "failed") {
    const [failed] = status.failedCommits;
    same<typeof failed, PersistentDirCommitResult | undefined>();
    const error: HarnessFileError | undefined = failed?.error;
    const commit: CommitMode | undefined = failed?.commit;
    void [error?.cause, commit, failed?.changes?.created];
  }
  // @ts-expect-error there is none without dirs
  void status.commits;
  for (const conflict of await session.persistence.conflicts()) {
    const theirs = await conflict.readTheirs();
    same<typeof theirs, FileData | undefined>();
    void [conflict.base?.sha256, conflict.ours?.bytes, conflict.theirs?.bytes];
    await session.persistence.resolve(conflict.path, "theirs");
  }
  await session.persistence.discard({ paths: ["/persistent/user/a.md"] });
  // @ts-expect-error something is named
  await session.persistence.discard();
  // @ts-expect-error one of the two
  await session.persistence.resolve("/persistent/user/a.md", "mine");
  const turn = await session.beginTurn();
  const finished: FinishedTurn = await turn.finish();
  const manual = await finished.commitManual();
  same<typeof manual, PersistenceStatus>();
  const folder: string | undefined = session.hostPaths().persistent["/persistent/user"];
  void folder;
}

/** What a function of the user's may say it takes and gives. */
export function stores(dir: StoreDir<Body>): PersistentDir<Body>[] {
  return [dir];
}
