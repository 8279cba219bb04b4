// What a model, a tool or an upload might try. Each is to be refused with the code beside it.
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

export async function hostilePaths(session, outside) {
  const { files } = session;
  const folder = session.hostPaths().session;
  await writeFile(join(outside, "secret.txt"), "not yours");
  // Links as a shell that the agent runs could make them.
  await symlink(outside, join(folder, "way-out"));
  await symlink(join(outside, "secret.txt"), join(folder, "innocent.txt"));
  await symlink("../../../../outside/secret.txt", join(folder, "relative.txt"));

  const writes = (path, wanted, shown = path) => ({
    shown: `write ${shown}`,
    wanted,
    attempt: () => files.writeText(path, "x"),
  });
  const reads = (path, wanted) => ({ shown: `read ${path}`, wanted, attempt: () => files.read(path) });
  return [
    writes("/session/../../../etc/passwd", "FS_INVALID_PATH"),
    writes("session/notes.txt", "FS_INVALID_PATH"),
    writes("/session/a\0b", "FS_INVALID_PATH", "/session/a\\0b"),
    writes("/session/a\\..\\b", "FS_INVALID_PATH"),
    writes("/session/\ud800", "FS_INVALID_PATH", "/session/ and half a surrogate pair"),
    writes(`/session/${"x".repeat(256)}`, "FS_INVALID_PATH", "a name of 256 bytes"),
    writes("/etc/passwd", "FS_SANDBOX_DENIED"),
    writes("/persistent/undeclared/a.txt", "FS_SANDBOX_DENIED"),
    writes("/persistent/notes/.little-harness/a.journal", "FS_SANDBOX_DENIED"),
    writes("/.agents/skills/mine.md", "FS_SANDBOX_DENIED"),
    writes("/session/way-out/new.txt", "FS_SANDBOX_DENIED"),
    writes("/session/innocent.txt", "FS_SANDBOX_DENIED"),
    reads("/session/way-out/secret.txt", "FS_SANDBOX_DENIED"),
    reads("/session/innocent.txt", "FS_SANDBOX_DENIED"),
    reads("/session/relative.txt", "FS_SANDBOX_DENIED"),
    {
      shown: "remove /session",
      wanted: "FS_SANDBOX_DENIED",
      attempt: () => files.remove("/session", { recursive: true }),
    },
  ];
}
