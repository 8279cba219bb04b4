// A mistyped option does not compile: at run time one that is not known would only be left out.
import {
  type HarnessSession,
  PersistentDirConflict,
  type Turn,
  customDir,
  localDir,
  localHost,
  offloadInstructions,
  offloadToolResult,
} from "@little-stack/files";
import { fileTools, sessionFileSystem, truncateHead } from "@little-stack/files/tools";
import { piExecutionFiles } from "@little-stack/files/pi";
import { type PostgresPool, createSchema, postgresDir } from "@little-stack/files/postgres";
import { s3Dir } from "@little-stack/files/s3";

export function typos(
  h: ReturnType<typeof localHost>,
  s: HarnessSession,
  t: Turn,
  client: { send(command: any): Promise<any> },
  pool: PostgresPool,
): void {
  // @ts-expect-error
  void localHost({ datadir: "x" });
  // @ts-expect-error
  void localHost({ quota: { sessionbytes: 1 } });
  // @ts-expect-error
  void localHost({ trace: { dif: true } });
  // @ts-expect-error
  void localHost({ offload: { maxinline: 1 } });
  // @ts-expect-error
  void localHost({ durability: "always" });
  // @ts-expect-error
  void h.sessions.getOrCreate({ id: "a", extrabody: 1 });
  // @ts-expect-error
  void h.sessions.list({ limt: 1 });
  // @ts-expect-error
  void s.files.write("/a", "x", { mediatype: "x" });
  // @ts-expect-error
  void s.files.write("/a", { a: 1 });
  // @ts-expect-error
  void s.files.read("/a", { range: { begin: 1 } });
  // @ts-expect-error
  void s.files.list("/a", { recurse: true });
  // @ts-expect-error
  void s.files.remove("/a", { forced: true });
  // @ts-expect-error
  void s.beginTurn({ extrabody: 1 });
  // @ts-expect-error
  void t.tools({}, { hook: [] });
  // @ts-expect-error
  void t.tools({ a: { execute: 5 } });
  // @ts-expect-error
  void t.tools({}, { hooks: [{ befor() {} }] });
  // @ts-expect-error
  void t.callbacks({ onEnd() {} });
  // @ts-expect-error
  void t.finish({ sig: 1 });
  // @ts-expect-error
  void s.persistence.commit({ dirs: [] });
  // @ts-expect-error
  void s.persistence.resolve("/a", "mine");
  // @ts-expect-error
  void s.persistence.discard({ path: [] });
  // @ts-expect-error
  void localDir({ harnessDir: "/persistent/a", sourcedir: "x", sourceDir: "x" });
  // @ts-expect-error
  void localDir({ harnessDir: "/persistent/a", sourceDir: "x", commit: "auto" });
  const load = async (): Promise<Record<string, string>> => ({});
  // @ts-expect-error
  void customDir({ harnessDir: "/persistent/a", commit: "read-only", load, scop: 1 });
  // @ts-expect-error
  void s3Dir({ client, bucket: "b", prefix: "p/", harnessDir: "/persistent/a", concurency: 1 });
  // @ts-expect-error
  void s3Dir({ client, bucket: "b", prefix: "p/", harnessDir: "/persistent/a", conditional: true });
  // @ts-expect-error
  void postgresDir({ pool, scope: "s", harnessDir: "/persistent/a", tabel: "x" });
  // @ts-expect-error
  void createSchema(pool, { tabel: "x" });
  // @ts-expect-error
  void fileTools({ limit: {} });
  // @ts-expect-error
  void fileTools({ limits: { line: 1 } });
  // @ts-expect-error
  void fileTools({ names: { reed: "x" } });
  // @ts-expect-error
  void fileTools({ plan: { dir: { hots: "x" } } });
  // @ts-expect-error
  void fileTools({ observation: true });
  // @ts-expect-error
  void offloadInstructions({ readTol: "x" });
  // @ts-expect-error
  void offloadToolResult(s.files, { toolName: "x" }, 1);
  // @ts-expect-error
  void truncateHead("x", { maxLine: 1 });
  // @ts-expect-error
  void s.stageMessages([], { stage: 1 });
  // @ts-expect-error
  void sessionFileSystem(s).writeText({ targetKey: "", displayPath: "" }, "x", { expected: { createIfAbsent: false } });
  // @ts-expect-error
  void piExecutionFiles(s).remove("a", { recursiv: true });
  // @ts-expect-error
  void new PersistentDirConflict();
  // @ts-expect-error
  void t.run(5);
  // @ts-expect-error
  void h.sessions.getOrCreate({ id: 5 });
  // @ts-expect-error
  void fileTools({ limits: { lines: "5" } });
}
