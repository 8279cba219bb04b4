// G7: a guarded write changes a file only if it is still the version that was seen. G8: modes, whatever the umask.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { backends, onBackends } from "./support/backends.mjs";
import { rejectsWith, tempDir, withHost } from "./support/host.mjs";
import { asNobody, noNobody } from "./support/nobody.mjs";
import { dir, leftovers, link, plant, rootsSnapshot, sha256, snapshot } from "./support/tree.mjs";

const onDisk = (h, name) => fs.readFileSync(path.join(h.roots.session, name), "utf8");
const slowly = (text, between) =>
  (async function* () {
    yield text.slice(0, 1);
    await between();
    yield text.slice(1);
  })();
const winners = (settled, code) => {
  for (const each of settled) if (each.status === "rejected") assert.equal(each.reason.code, code, each.reason.stack);
  return settled.filter((each) => each.status === "fulfilled").map((each) => each.value);
};

onBackends("ifMatch writes over the version it names, and over no other", async (t, h) => {
  const one = await h.files.writeText("/session/a.txt", "one");
  const two = await h.files.writeText("/session/a.txt", "two", { ifMatch: one.sha256 });
  const before = rootsSnapshot(h.roots);
  const stale = { ifMatch: one.sha256 };
  await rejectsWith(h.files.writeText("/session/a.txt", "three", stale), "FS_STALE_VERSION", {
    path: "/session/a.txt",
  });
  await rejectsWith(h.files.writeJSON("/session/a.txt", 3, stale), "FS_STALE_VERSION");
  await rejectsWith(
    h.files.write(
      "/session/a.txt",
      slowly("three", async () => {}),
      stale,
    ),
    "FS_STALE_VERSION",
  );
  await rejectsWith(h.files.writeText("/session/none/b.txt", "three", stale), "FS_STALE_VERSION");
  await rejectsWith(h.files.writeText("/session/none.txt", "three", stale), "FS_STALE_VERSION");
  assert.deepEqual(rootsSnapshot(h.roots), before);
  assert.equal((await h.files.writeText("/session/a.txt", "three", { ifMatch: two.sha256 })).sha256, sha256("three"));
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("ifNoneMatch writes only where nothing is", async (t, h) => {
  plant(h.roots.session, { "file.txt": "old", dir: dir(), foreign: "x" });
  const before = rootsSnapshot(h.roots);
  for (const name of ["file.txt", "dir", "foreign"]) {
    await rejectsWith(h.files.writeText(`/session/${name}`, "new", { ifNoneMatch: "*" }), "FS_ALREADY_EXISTS", {
      path: `/session/${name}`,
    });
    await rejectsWith(
      h.files.write(
        `/session/${name}`,
        slowly("new", async () => {}),
        { ifNoneMatch: "*" },
      ),
      "FS_ALREADY_EXISTS",
    );
  }
  plant(h.roots.session, { link: link("nowhere") });
  await assert.rejects(h.files.writeText("/session/link", "new", { ifNoneMatch: "*" }), (error) =>
    ["FS_ALREADY_EXISTS", "FS_SANDBOX_DENIED"].includes(error.code),
  );
  fs.unlinkSync(path.join(h.roots.session, "link"));
  assert.deepEqual(rootsSnapshot(h.roots), before);
  assert.equal((await h.files.writeText("/session/new/a.txt", "new", { ifNoneMatch: "*" })).bytes, 3);
  assert.deepEqual(leftovers(h.dataDir), []);
});

test("guards that make no sense are told", async (t) => {
  const h = await withHost(t);
  const { sha256: hash } = await h.files.writeText("/session/a.txt", "x");
  for (const ifMatch of ["", "abc", "*", hash.slice(1), `${hash}0`, "g".repeat(64), 7, {}]) {
    await rejectsWith(h.files.writeText("/session/a.txt", "y", { ifMatch }), "FS_INVALID_OPTION", {
      message: /ifMatch/,
    });
  }
  for (const ifNoneMatch of ["", hash, true, 1]) {
    await rejectsWith(h.files.writeText("/session/b.txt", "y", { ifNoneMatch }), "FS_INVALID_OPTION", {
      message: /ifNoneMatch/,
    });
  }
  await rejectsWith(h.files.writeText("/session/a.txt", "y", { ifMatch: hash, ifNoneMatch: "*" }), "FS_INVALID_OPTION");
  assert.equal(onDisk(h, "a.txt"), "x");
  assert.deepEqual(fs.readdirSync(h.roots.session), ["a.txt"]);
});

onBackends("of twenty guarded writers exactly one wins", async (t, h) => {
  const other = await h.session("test");
  for (let round = 0; round < 8; round += 1) {
    const name = `f${round}`;
    const write = (n, guard) => {
      const files = n % 2 ? h.files : other.files;
      const text = `writer ${n} of round ${round}`;
      return n % 3 === 0
        ? files.write(
            `/session/${name}`,
            slowly(text, async () => {}),
            guard,
          )
        : files.writeText(`/session/${name}`, text, guard);
    };
    const created = winners(
      await Promise.allSettled(Array.from({ length: 20 }, (_, n) => write(n, { ifNoneMatch: "*" }))),
      "FS_ALREADY_EXISTS",
    );
    assert.equal(created.length, 1, `${created.length} creators won`);
    assert.equal(sha256(onDisk(h, name)), created[0].sha256);
    const updated = winners(
      await Promise.allSettled(Array.from({ length: 20 }, (_, n) => write(n + 100, { ifMatch: created[0].sha256 }))),
      "FS_STALE_VERSION",
    );
    assert.equal(updated.length, 1, `${updated.length} updaters won`);
    assert.equal(sha256(onDisk(h, name)), updated[0].sha256);
  }
  assert.deepEqual(leftovers(h.dataDir), []);
});

onBackends("no update is lost when each writer reads and writes guarded", async (t, h) => {
  const second = await withHost(t, { base: h.base, resolver: h.resolver });
  await h.files.writeText("/session/count", "0");
  const bump = async (files) => {
    for (let left = 10; left > 0;) {
      const seen = await files.read("/session/count");
      try {
        await files.writeText("/session/count", String(Number(seen.text()) + 1), { ifMatch: seen.sha256 });
        left -= 1;
      } catch (error) {
        assert.equal(error.code, "FS_STALE_VERSION", error.stack);
      }
    }
  };
  await Promise.all([bump(h.files), bump(h.files), bump(second.files), bump(second.files)]);
  assert.equal(onDisk(h, "count"), "40");
});

onBackends("a change by another program is noticed, also one of the same size, at any moment", async (t, h) => {
  const file = path.join(h.roots.session, "a.txt");
  const changes = {
    "written in place": () => fs.writeFileSync(file, "eno"),
    replaced: () => {
      fs.writeFileSync(`${file}.x`, "eno");
      fs.renameSync(`${file}.x`, file);
    },
    "with its old times": () => {
      const { atime, mtime } = fs.statSync(file);
      fs.writeFileSync(file, "eno");
      fs.utimesSync(file, atime, mtime);
    },
    grown: () => fs.appendFileSync(file, "!"),
    removed: () => fs.unlinkSync(file),
    "now a folder": () => {
      fs.unlinkSync(file);
      fs.mkdirSync(file);
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    for (const when of ["at once", "later", "while the source yields"]) {
      await t.test(`${what}, ${when}`, async () => {
        fs.rmSync(file, { recursive: true, force: true });
        const { sha256: seen } = await h.files.writeText("/session/a.txt", "one");
        if (when === "later") await new Promise((resolve) => setTimeout(resolve, 40)); // past the fresh stamp
        if (when !== "while the source yields") change();
        const source = slowly("new", async () => {
          if (when === "while the source yields") change();
        });
        await assert.rejects(h.files.write("/session/a.txt", source, { ifMatch: seen }), (error) => {
          assert.ok(
            what === "now a folder"
              ? ["FS_STALE_VERSION", "FS_NOT_REGULAR_FILE"].includes(error.code)
              : error.code === "FS_STALE_VERSION",
            `${error.code} ${error.message}`,
          );
          return true;
        });
        assert.notEqual(fs.existsSync(file) && fs.statSync(file).isFile() && fs.readFileSync(file, "utf8"), "new");
        assert.deepEqual(
          fs.readdirSync(h.roots.session).filter((name) => name !== "a.txt"),
          [],
        );
        assert.deepEqual(leftovers(h.dataDir), []);
      });
    }
  }
});

onBackends("a file of another program is guarded by its hash as well", async (t, h) => {
  plant(h.roots.session, { "foreign.txt": "theirs" });
  await rejectsWith(h.files.writeText("/session/foreign.txt", "ours", { ifMatch: sha256("ours") }), "FS_STALE_VERSION");
  await h.files.writeText("/session/foreign.txt", "ours", { ifMatch: sha256("theirs") });
  assert.equal(onDisk(h, "foreign.txt"), "ours");
});

onBackends("a replaced file keeps its execute bits, and no other", async (t, h) => {
  const modeAfter = async (before, run) => {
    fs.writeFileSync(path.join(h.roots.session, "run.sh"), "old");
    fs.chmodSync(path.join(h.roots.session, "run.sh"), before);
    await run();
    return (fs.statSync(path.join(h.roots.session, "run.sh")).mode & 0o7777).toString(8);
  };
  const runs = [
    () => h.files.writeText("/session/run.sh", "new"),
    () =>
      h.files.write(
        "/session/run.sh",
        slowly("new", async () => {}),
      ),
    () => h.files.writeText("/session/run.sh", "new", { ifMatch: sha256("old") }),
  ];
  for (const run of runs) {
    for (const [before, after] of [
      [0o755, "711"],
      [0o700, "700"],
      [0o777, "711"],
      [0o644, "600"],
      [0o600, "600"],
      [0o4755, "711"],
      [0o2710, "710"],
    ]) {
      assert.equal(await modeAfter(before, run), after, `from ${before.toString(8)}`);
    }
  }
});

for (const umask of [0o000, 0o022, 0o777]) {
  for (const { name, resolver } of backends) {
    test(`files are 0600 and folders 0700 with umask ${umask.toString(8).padStart(3, "0")} [${name}]`, async (t) => {
      const base = tempDir(t);
      fs.mkdirSync(path.join(base, "outside"));
      const before = process.umask(umask);
      try {
        const h = await withHost(t, { base, resolver, durability: "write" });
        await h.files.writeText("/session/a/b/c.txt", "small");
        await h.files.write(
          "/artifacts/stream/d.bin",
          slowly("stream", async () => {}),
        );
        await h.files.writeText("/artifacts/e.txt", "marked", { artifact: true, metadata: { a: 1 } });
        await h.files.writeText("/artifacts/e.txt", "replaced");
        await h.files.remove("/session/a/b", { recursive: true });
        await h.main.flush();
        const all = snapshot(h.dataDir);
        assert.ok(Object.keys(all).some((each) => each.endsWith("harness.db")));
        for (const [each, { kind, mode }] of Object.entries(all))
          assert.equal(mode, kind === "dir" ? "700" : "600", `${each} is ${mode}`);
        assert.equal((fs.statSync(h.dataDir).mode & 0o777).toString(8), "700");
      } finally {
        process.umask(before);
      }
    });
  }
}

test("the same without root's rights, and what the kernel refuses is told", { skip: noNobody }, (t) => {
  const program = `
    import fs from "node:fs"; import path from "node:path";
    import { localHost } from "@little-stack/files";
    process.umask(0o077);
    const dataDir = path.join(process.env.BASE, "data");
    const host = localHost({ dataDir });
    const session = await host.sessions.getOrCreate({ id: "test" });
    const { files } = session;
    const root = session.hostPaths().session;
    process.umask(0o277); // takes the owner's own write bit
    await files.writeText("/session/a/b/c.txt", "one");
    const mode = (name) => (fs.statSync(path.join(root, name)).mode & 0o7777).toString(8);
    const modes = ["a", "a/b", "a/b/c.txt"].map(mode);
    process.umask(0o022);
    for (const at of ["read-only", "shut"]) { fs.mkdirSync(path.join(root, at)); fs.writeFileSync(path.join(root, at, "f"), "old"); }
    fs.writeFileSync(path.join(root, "no-read"), "old", { mode: 0o000 });
    fs.writeFileSync(path.join(root, "no-write"), "old", { mode: 0o444 });
    fs.chmodSync(path.join(root, "read-only"), 0o555);
    fs.chmodSync(path.join(root, "shut"), 0o000);
    const code = (promise) => promise.then(() => "ok", (error) => error.message.includes(process.env.BASE) ? "LEAK " + error.message : error.code);
    const codes = {
      create: await code(files.writeText("/session/read-only/new", "x")), deep: await code(files.writeText("/session/read-only/a/b", "x")),
      replace: await code(files.writeText("/session/read-only/f", "x")), remove: await code(files.remove("/session/read-only/f")),
      into: await code(files.writeText("/session/shut/f", "x")), from: await code(files.read("/session/shut/f")), list: await code(files.list("/session/shut")),
      unreadable: await code(files.read("/session/no-read")), stream: await code(files.readStream("/session/no-read")), over: await code(files.writeText("/session/no-write", "x")),
    };
    const kept = fs.readFileSync(path.join(root, "read-only/f"), "utf8");
    for (const at of ["read-only", "shut"]) fs.chmodSync(path.join(root, at), 0o700);
    await host.close();
    console.log(JSON.stringify({ modes, codes, kept }));`;
  const denied = "FS_PERMISSION_DENIED";
  assert.deepEqual(asNobody(tempDir(t), program), {
    modes: ["700", "700", "600"],
    codes: {
      create: denied,
      deep: denied,
      replace: denied,
      remove: denied,
      into: denied,
      from: denied,
      list: denied,
      unreadable: denied,
      stream: denied,
      over: "ok",
    },
    kept: "old",
  });
});
