// A change is only ever committed to the source that it was loaded from: user B's turn never sends user A's files.
import assert from "node:assert/strict";
import { rejectsWith } from "../../host.mjs";
import {
  assertFailed,
  assertHolds,
  assertLanded,
  at,
  DIR,
  filesOf,
  inTurn,
  leavePending,
  pendingOf,
} from "../session.mjs";

const A = { extraBody: { user: "a" } };
const B = { extraBody: { user: "b" } };

export function cases(it) {
  it("nothing pending: the other user's turn has the other user's files", { byUser: true }, async (t, h, store) => {
    store.write("shared-name", "of a", "a");
    store.write("only-a", "of a", "a");
    store.write("shared-name", "of b", "b");
    await inTurn(h.main, (files) => files.write(at("new"), "a's"), A);
    assertHolds(store.read("a"), { "shared-name": "of a", "only-a": "of a", new: "a's" });
    const finished = await inTurn(
      h.main,
      async (files) => {
        assertHolds(filesOf(h.checkout), { "shared-name": "of b" }, "nothing of user a is there");
        await files.write(at("of-b"), "b's");
      },
      B,
    );
    assertLanded(finished.persistence, { created: 1 });
    assertHolds(store.read("b"), { "shared-name": "of b", "of-b": "b's" });
    assertHolds(store.read("a"), { "shared-name": "of a", "only-a": "of a", new: "a's" });
    await inTurn(h.main, () => assertHolds(filesOf(h.checkout), store.read("a")), A);
  });

  it(
    "pending changes: the other user is told, and neither sees nor sends them",
    { byUser: true },
    async (t, h, store) => {
      store.write("notes.md", "of a", "a");
      store.write("notes.md", "of b", "b");
      await leavePending(
        h.main,
        async (files) => {
          await files.write(at("notes.md"), "a's edit");
          await files.write(at("secret.txt"), "a's secret");
        },
        A,
      );
      await rejectsWith(h.main.beginTurn(B), "FS_CONFLICT");
      assert.equal((await h.main.status()).state, "idle", "no turn is open");
      assertFailed(await h.persistence.commit(B), "FS_CONFLICT");
      assertHolds(store.read("b"), { "notes.md": "of b" });
      assertHolds(store.read("a"), { "notes.md": "of a" });
      assert.deepEqual(await pendingOf(h.main), ["updated notes.md", "created secret.txt"]);
      assertLanded(await h.persistence.commit(A), { created: 1, updated: 1 });
      assertHolds(store.read("a"), { "notes.md": "a's edit", "secret.txt": "a's secret" });
      await inTurn(h.main, () => assertHolds(filesOf(h.checkout), { "notes.md": "of b" }), B);
      assertHolds(store.read("b"), { "notes.md": "of b" });
    },
  );

  it("what a shell left of user a does not go to user b", { byUser: true }, async (t, h, store) => {
    await inTurn(h.main, (files) => files.write(at("a.txt"), "a's"), A);
    const fs = await import("node:fs");
    fs.writeFileSync(`${h.checkout}/left.txt`, "a's, by a shell");
    await rejectsWith(h.main.beginTurn(B), "FS_CONFLICT");
    assertHolds(store.read("b"), {});
    assertLanded((await inTurn(h.main, undefined, A)).persistence, { created: 1 });
    assertHolds(store.read("a"), { "a.txt": "a's", "left.txt": "a's, by a shell" });
  });

  it("discarding the dir frees it for the other user", { byUser: true }, async (t, h, store) => {
    store.write("b.txt", "of b", "b");
    await leavePending(h.main, (files) => files.write(at("a.txt"), "a's"), A);
    await rejectsWith(h.main.beginTurn(B), "FS_CONFLICT");
    await h.persistence.discard({ harnessDirs: [DIR] });
    assert.deepEqual(await pendingOf(h.main), []);
    await inTurn(h.main, () => assertHolds(filesOf(h.checkout), { "b.txt": "of b" }), B);
    assertHolds(store.read("a"), {});
    assertHolds(store.read("b"), { "b.txt": "of b" });
  });

  it(
    "the handle's extraBody, else that of its last turn, counts outside a turn",
    { byUser: true },
    async (t, h, store) => {
      const ofA = await h.session("of-a", A);
      await ofA.files.write(at("by-handle"), "a's");
      assertHolds(store.read("a"), { "by-handle": "a's" });
      const session = await h.session("of-b");
      await inTurn(session, undefined, B);
      await session.files.write(at("by-turn"), "b's");
      assertHolds(store.read("b"), { "by-turn": "b's" });
      await leavePending(session, (files) => files.write(at("later"), "b's"), B);
      assertLanded(await session.persistence.commit(), { created: 1 });
      assertHolds(store.read("b"), { "by-turn": "b's", later: "b's" });
      assertHolds(store.read("a"), { "by-handle": "a's" });
    },
  );

  it("two users in two sessions at once", { byUser: true }, async (t, h, store) => {
    const sessions = await Promise.all([h.session("one", A), h.session("two", B)]);
    const turns = await Promise.all(sessions.map((session) => session.beginTurn()));
    await Promise.all(turns.map((turn, n) => turn.files.write(at("who.txt"), `user ${n}`)));
    for (const finished of await Promise.all(turns.map((turn) => turn.finish())))
      assertLanded(finished.persistence, { created: 1 });
    assertHolds(store.read("a"), { "who.txt": "user 0" });
    assertHolds(store.read("b"), { "who.txt": "user 1" });
  });
}
