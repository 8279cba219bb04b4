// Every kind of failure leaves the old file, an empty staging folder, a source that was told once, and no listener.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rejectsWith } from "./support/host.mjs";
import { assertUntouched, NAME, withOld } from "./support/old-file.mjs";
import { MIB, turn } from "./support/sources.mjs";
import { assertNoListeners, chunk, LENGTH, watched } from "./support/watched.mjs";

for (const [kind, watch] of Object.entries(watched)) {
  test(`${kind}: all goes well, nobody is told`, async (t) => {
    const h = await withOld(t);
    const seen = watch((at) => (at < 9 ? chunk() : undefined));
    const ref = await h.files.write(NAME, seen.content);
    assert.equal(ref.bytes, 9 * LENGTH);
    assert.equal(seen.told, 0);
    if (seen.released !== undefined) assert.ok(seen.released >= 1);
    await turn();
    if (seen.stream) assertNoListeners(seen.content);
  });

  test(`${kind}: fails at every chunk`, async (t) => {
    const h = await withOld(t);
    for (let bad = 0; bad < 9; bad++) {
      const failure = Object.assign(new RangeError("secret text"), { code: "ESOURCE" });
      const seen = watch((at) => {
        if (at === bad) throw failure;
        return chunk();
      });
      const error = await rejectsWith(h.files.write(NAME, seen.content), "FS_INVALID_CONTENT", { path: NAME });
      assert.equal(error.cause, failure, "the very error of the source");
      assert.ok(!error.message.includes("secret text") && error.message.includes("ESOURCE"), error.message);
      assert.equal(seen.told, 0, "what failed by itself needs no telling");
      assert.equal(seen.pulls, bad + 1);
      await assertUntouched(h);
      if (seen.stream) assertNoListeners(seen.content);
    }
  });

  test(`${kind}: a chunk that is no bytes, at every place`, async (t) => {
    const h = await withOld(t);
    for (let bad = 0; bad < 9; bad++) {
      const seen = watch((at) => (at === bad ? { no: "bytes" } : chunk()));
      if (kind === "web byte stream") {
        // refuses it by itself
        const error = await rejectsWith(h.files.write(NAME, seen.content), "FS_INVALID_CONTENT", { path: NAME });
        assert.ok(error.cause instanceof TypeError);
      } else {
        await rejectsWith(h.files.write(NAME, seen.content), "FS_INVALID_CONTENT", {
          path: NAME,
          message: new RegExp(`Chunk ${bad + 1} `),
        });
        assert.equal(seen.told, 1, `told once, at chunk ${bad}`);
      }
      await assertUntouched(h);
      await turn();
      if (seen.stream) assertNoListeners(seen.content);
    }
  });

  test(`${kind}: told once when the call is refused before a byte was read, whatever refuses it`, async (t) => {
    const h = await withOld(t);
    const closed = await h.host.sessions.getOrCreate({ id: "closed" });
    await closed.close();
    const refusals = [
      ["FS_INVALID_PATH", (content) => h.files.write("/session/../x", content)],
      ["FS_INVALID_PATH", (content) => h.files.write(7, content)],
      ["FS_SANDBOX_DENIED", (content) => h.files.write("/etc/x", content)],
      ["FS_INVALID_OPTION", (content) => h.files.write(NAME, content, { ifMatch: "x" })],
      ["FS_INVALID_OPTION", (content) => h.files.write(NAME, content, 7)],
      ["FS_ABORTED", (content) => h.files.write(NAME, content, { signal: AbortSignal.abort() })],
      ["FS_CLOSED", (content) => closed.files.write(NAME, content)],
    ];
    for (const [code, write] of refusals) {
      const seen = watch(() => chunk());
      await rejectsWith(write(seen.content), code);
      await turn();
      if (kind === "async generator")
        assert.ok((await seen.content.next()).done, "a generator that has not begun is over");
      else assert.equal(seen.told, 1, `${code}: told once`);
      if (kind !== "web byte stream") assert.equal(seen.pulls, 0, `${code}: not read`);
      if (seen.stream) assertNoListeners(seen.content);
    }
    await assertUntouched(h);
  });

  test(`${kind}: told once when the write is refused in the end or on the way`, async (t) => {
    const h = await withOld(t, { quota: { fileBytes: 2 * MIB } });
    const endless = watch(() => chunk());
    await rejectsWith(h.files.write(NAME, endless.content), "FS_QUOTA_EXCEEDED", { path: NAME });
    assert.equal(endless.told, 1);
    assert.ok(endless.pulls < 40, `${endless.pulls} chunks were asked for: no more than a few batches ahead`);
    const whole = watch((at) => (at < 5 ? chunk() : undefined));
    await rejectsWith(h.files.write(NAME, whole.content, { ifNoneMatch: "*" }), "FS_ALREADY_EXISTS", { path: NAME });
    assert.equal(whole.told, 0, "it had ended");
    await assertUntouched(h);
  });
}
