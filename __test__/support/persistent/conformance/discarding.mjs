// Changes are given up only by request, and only those that were named.
import assert from "node:assert/strict";
import { rejectsWith } from "../../host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  conflictsOf,
  DIR,
  filesOf,
  inTurn,
  leavePending,
  pendingOf,
} from "../session.mjs";

const OLD = { changed: "old changed", deleted: "old deleted", "tree/a": "old a", "tree/b": "old b" };
const ALL = [
  "updated changed",
  "created created",
  "deleted deleted",
  "updated tree/a",
  "deleted tree/b",
  "created tree/c",
];

async function changed(h, store) {
  for (const [name, text] of Object.entries(OLD)) store.write(name, text);
  await leavePending(h.main, async (files) => {
    await files.write(at("changed"), "new");
    await files.write(at("created"), "new");
    await files.remove(at("deleted"));
    await files.write(at("tree/a"), "new");
    await files.remove(at("tree/b"));
    await files.write(at("tree/c"), "new");
  });
  assert.deepEqual(await pendingOf(h.main), ALL);
}

export function cases(it) {
  for (const [name, was] of Object.entries({ changed: "old changed", created: undefined, deleted: "old deleted" })) {
    it(`discard a path that is ${name}`, async (t, h, store) => {
      await changed(h, store);
      await h.persistence.discard({ paths: [at(name)] });
      assert.equal(filesOf(h.checkout).get(name)?.toString(), was);
      assert.deepEqual(
        await pendingOf(h.main),
        ALL.filter((each) => !each.endsWith(` ${name}`)),
      );
      assertHolds(store.read(), OLD, "the store is not touched");
      assertLanded(await h.persistence.commit());
      assert.equal(store.read().get(name)?.toString(), was);
      assert.equal(store.read().get("tree/c")?.toString(), "new", "all else lands");
    });
  }

  it("discard a folder: what is below it", async (t, h, store) => {
    await changed(h, store);
    await h.persistence.discard({ paths: [at("tree")] });
    assert.deepEqual(await pendingOf(h.main), ALL.slice(0, 3));
    assertHolds(filesOf(h.checkout), { changed: "new", created: "new", "tree/a": "old a", "tree/b": "old b" });
  });

  it("discard what has no place any more: refused, and nothing is given up, until ours goes as well", async (t, h, store) => {
    for (const [name, text] of Object.entries(OLD)) store.write(name, text);
    await leavePending(h.main, async (files) => {
      await files.write(at("changed"), "new");
      await files.remove(at("tree"), { recursive: true });
      await files.write(at("tree"), "a file");
    });
    const all = await pendingOf(h.main);
    assert.deepEqual(all.toSorted(), ["created tree", "deleted tree/a", "deleted tree/b", "updated changed"]);
    const before = filesOf(h.checkout);
    const error = await rejectsWith(h.persistence.discard({ paths: [at("changed"), at("tree/a")] }), "FS_CONFLICT");
    assert.match(error.message, new RegExp(`${at("tree")} stands in the way of ${at("tree/a")}`));
    assert.deepEqual(await pendingOf(h.main), all);
    assertHolds(filesOf(h.checkout), before);
    await h.persistence.discard({ paths: [at("tree")] });
    assert.deepEqual(await pendingOf(h.main), ["updated changed"]);
    assertHolds(filesOf(h.checkout), { ...OLD, changed: "new" });
  });

  it("discard several paths, and the whole dir", async (t, h, store) => {
    await changed(h, store);
    await h.persistence.discard({ paths: [at("tree/a"), at("created")] });
    assert.deepEqual(await pendingOf(h.main), [
      "updated changed",
      "deleted deleted",
      "deleted tree/b",
      "created tree/c",
    ]);
    await h.persistence.discard({ harnessDirs: [DIR] });
    assert.deepEqual(await pendingOf(h.main), []);
    assertHolds(filesOf(h.checkout), OLD);
    assertHolds(store.read(), OLD);
    assertLanded((await inTurn(h.main)).persistence, {});
    assertHolds(store.read(), OLD);
  });

  it("discard gives what the store holds now", async (t, h, store) => {
    await changed(h, store);
    store.write("changed", "theirs meanwhile");
    store.remove("deleted");
    await h.persistence.discard({ paths: [at("changed"), at("deleted")] });
    await inTurn(h.main);
    const files = filesOf(h.checkout);
    assert.deepEqual([files.get("changed")?.toString(), files.has("deleted")], ["theirs meanwhile", false]);
    assert.equal(store.read().get("changed").toString(), "theirs meanwhile");
  });

  it("discard a path in conflict", async (t, h, store) => {
    await changed(h, store);
    store.write("changed", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    assert.deepEqual(Object.keys(await conflictsOf(h.main)), ["changed"]);
    await h.persistence.discard({ paths: [at("changed")] });
    assert.deepEqual(await conflictsOf(h.main), {});
    assert.deepEqual(await pendingOf(h.main), ALL.slice(1));
    assert.equal((await h.files.read(at("changed"))).text(), "theirs");
    assertLanded(await h.persistence.commit());
    assert.equal(store.read().get("changed").toString(), "theirs");
  });

  it("discard the whole dir with a conflict in it", async (t, h, store) => {
    await changed(h, store);
    store.write("changed", "theirs");
    store.write("created", "theirs");
    assertFailed((await inTurn(h.main)).persistence, "FS_CONFLICT");
    await h.persistence.discard({ harnessDirs: [DIR] });
    assert.deepEqual([await conflictsOf(h.main), await pendingOf(h.main)], [{}, []]);
    const wanted = { ...OLD, changed: "theirs", created: "theirs" };
    assertLanded((await inTurn(h.main)).persistence, {});
    assertHolds(filesOf(h.checkout), wanted);
    assertHolds(store.read(), wanted);
  });

  it(
    "discard with the store down: the change stays, or goes, but is not half gone",
    { needs: (s) => s.faults?.includes("before") },
    async (t, h, store) => {
      await changed(h, store);
      if (store.failLoads) store.failLoads.push(new Error("down"));
      const heal = store.failLoads ? () => {} : store.fail(1, "before");
      await h.persistence.discard({ paths: [at("changed")] }).catch((error) => {
        assert.equal(error.code, "FS_LOAD_FAILED");
      });
      heal();
      if (store.failLoads) store.failLoads.length = 0;
      const content = filesOf(h.checkout).get("changed")?.toString();
      const pending = (await pendingOf(h.main)).includes("updated changed");
      assert.ok((content === "new" && pending) || (content === "old changed" && !pending), `${content}, ${pending}`);
    },
  );

  it("a request that names nothing, or what is not there, is refused and discards nothing", async (t, h, store) => {
    await changed(h, store);
    for (const request of [
      undefined,
      {},
      { harnessDirs: [] },
      { paths: [] },
      { harnessDirs: [], paths: [] },
      { harnessDirs: DIR },
      { paths: at("changed") },
      { harnessDirs: ["/persistent/none"] },
      { harnessDirs: [DIR, "/persistent/none"] },
    ])
      await rejectsWith(h.persistence.discard(request), "FS_INVALID_OPTION");
    for (const harnessDirs of [["/persistent/none"], DIR, [7]])
      await rejectsWith(h.persistence.commit({ harnessDirs }), "FS_INVALID_OPTION");
    assert.deepEqual(await pendingOf(h.main), ALL);
    assertHolds(store.read(), OLD);
  });
}
