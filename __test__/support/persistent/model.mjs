// The promise of DESIGN G6 as a model: whatever happens to a session, its store and its process, every change that was made
// under the dir is in the store, pending, in conflict, or was discarded by request: exactly one of them.
//
// A program of its own (actor.mjs) does what the session does, so that it can be killed. This side is the shell, the other
// programs on the store, and the judge: it reads the checkout and the store from the disk after each step.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { sha256 } from "../tree.mjs";
import { sleep } from "../process.mjs";
import { startActor } from "./actor.mjs";
import { DIR, shell } from "./session.mjs";

const NAMES = ["a", "b.txt", "deep/c", "deep/d/e", "__proto__", "f g"];
const USERS = ["ann", "bob"];
/** How long a commit may take, for a kill in its midst. */
const COMMIT_MS = 25;
const LOAD_MS = 15;
const NEVER = 1_000_000;

const textsOf = (held) => new Map([...held].map(([name, bytes]) => [name, bytes.toString()]));

export class Model {
  #t;
  #random;
  #dataDir;
  #actor;
  #folder;
  /** What was done, for who has to find out why it failed. */
  log = [];
  #count = 0;
  #step = 0;
  /** User → what the store held after the last step. */
  #held = new Map();
  /** User → name → [step, text], whenever it changed. */
  #history = new Map();
  /** Name → { user, text, step }: our last change of each path that has not landed for sure. No text: removed. */
  #intents = new Map();
  /** User → names that other programs changed, which no load has shown us yet. */
  #unseen = new Map();
  /** Name → what the base may hold: what the last load gave, or one that may have been made since. */
  #bases = new Map();
  /** Whose files the checkout holds; undefined: it has to be loaded first. */
  #owner;
  #handleUser;
  #turn;
  #listed = { pending: new Map(), conflicts: new Map() };
  /** The database was lost, and no turn has begun since: what is ours and what came from where is not known for sure. */
  #amnesia = false;

  constructor(t, { store, random, dataDir }) {
    this.#t = t;
    this.store = store;
    this.#random = random;
    this.#dataDir = dataDir;
    for (const user of USERS) {
      this.#held.set(user, new Map());
      this.#history.set(user, new Map());
      this.#unseen.set(user, new Set());
    }
  }

  #pick(list) {
    return list[Math.floor(this.#random() * list.length)];
  }
  #chance(probability) {
    return this.#random() < probability;
  }

  async run(steps) {
    this.#handleUser = this.#pick(USERS);
    for (const user of USERS)
      for (const name of NAMES) if (this.#chance(0.5)) this.store.write(name, `${user}, from the start, ${name}`, user);
    this.#readStores();
    await this.#start();
    await this.#judge();
    for (this.#step = 1; this.#step <= steps; this.#step++) {
      await this.#one();
      await this.#judge();
    }
    await this.#wayOut();
    await this.#actor.end();
  }

  // ── The program ──

  async #start() {
    this.#actor = startActor(this.#t, {
      dataDir: this.#dataDir,
      store: this.store,
      id: "model",
      byUser: true,
      user: this.#handleUser,
    });
    this.#folder = await this.#actor.ask({ op: "folder" });
    this.#note(`a program of ${this.#handleUser}`);
    this.#turn = undefined;
  }

  async #kill() {
    this.#actor.kill();
    await this.#actor.ended;
    this.#turn = undefined;
    await this.#start();
  }

  /** The code that it failed with, or undefined. */
  async #try(command) {
    try {
      return { value: await this.#actor.ask(command) };
    } catch (error) {
      return this.#failure(command, error);
    }
  }

  #failure(command, error) {
    assert.match(String(error.code), /^FS_/, `${JSON.stringify(command)}: ${error.stack}`);
    return { code: error.code, message: error.message };
  }

  // ── Steps ──

  async #one() {
    const steps = this.#turn === undefined ? this.#outsideTurn() : this.#insideTurn();
    const [name, step] = this.#pick(steps);
    this.log.push(`${this.#step}. ${name}`);
    await step();
  }

  #insideTurn() {
    const some = [
      ["write", () => this.#write()],
      ["write", () => this.#write()],
      ["remove", () => this.#remove()],
      ["shell write", () => this.#shellWrite()],
      ["shell remove", () => this.#shellRemove()],
      ["finish", () => this.#commitStep({ op: "finish" }, this.#turn)],
      ["finish", () => this.#commitStep({ op: "finish" }, this.#turn)],
      ["abort", () => this.#abort()],
      ["kill", () => this.#kill()],
      ["kill in a write", () => this.#write({ kill: true })],
    ];
    // A store that compares nothing cannot tell of a change in the midst of a turn.
    if (this.store.detects) some.push(["outside", () => this.#outside()], ["outside", () => this.#outside()]);
    return some;
  }

  #outsideTurn() {
    const owner = this.#owner;
    const some = [
      ["begin", () => this.#begin(owner ?? this.#pick(USERS))],
      ["begin", () => this.#begin(owner ?? this.#pick(USERS))],
      ["begin, outside change before", () => this.#begin(owner ?? this.#handleUser, { outside: true })],
      ["begin, any user", () => this.#begin(this.#pick(USERS))],
      ["kill in a begin", () => this.#killedBegin(owner ?? this.#handleUser)],
      ["restart", () => this.#restart()],
      ["handle", () => this.#handle()],
      ["lost database", () => this.#loseDatabase()],
      ["commit, any user", () => this.#commitStep({ op: "commit" }, this.#pick(USERS))],
    ];
    if (owner === undefined) return some;
    some.push(
      ["commit", () => this.#commitStep({ op: "commit" }, owner)],
      ["commit", () => this.#commitStep({ op: "commit" }, owner)],
      ["shell write", () => this.#shellWrite()],
      ["shell remove", () => this.#shellRemove()],
      ["discard all", () => this.#discardAll()],
    );
    if (this.store.detects) some.push(["outside", () => this.#outside()]);
    if (this.#handleUser === owner) {
      some.push(["host write", () => this.#hostWrite()], ["host remove", () => this.#hostRemove()]);
      if (this.#listed.pending.size > 0) some.push(["discard", () => this.#discard()]);
      for (let n = 0; n < 3 && this.#listed.conflicts.size > 0; n++) some.push(["resolve", () => this.#resolve()]);
    }
    return some;
  }

  #note(text) {
    this.log.push(`      ${text.replace(/ +$/, " (long)")}`);
  }

  /** A change of ours: what it was before does not matter any more. */
  #intend(name, text, user = this.#owner) {
    this.#intents.set(name, { user, text, step: this.#step });
    this.#note(`ours: ${name} = ${text}`);
  }
  #text(who) {
    return `${who} ${++this.#count}${this.#chance(0.1) ? " ".repeat(9000) : ""}`;
  }

  async #begin(user, { outside = false } = {}) {
    if (outside) this.#outside(user);
    const free = this.#owner === undefined || this.#owner === user || this.#nothingListed();
    const { code, message } = await this.#try({ op: "begin", user });
    this.#note(`${user}: ${code ?? "begun"}`);
    if (!free) {
      assert.equal(code, "FS_CONFLICT", "another user's turn must not begin while changes are pending");
      return;
    }
    // Whose files are left in the checkout is known only to the dir.
    if (this.#amnesia && this.#owner === undefined && code === "FS_CONFLICT") return;
    assert.equal(code, undefined, `begin: ${message}`);
    this.#turn = user;
    this.#loaded(user);
  }

  /** A load that is cut off brings in some of what changed, and nothing of that is a change of ours. */
  async #killedBegin(user) {
    for (let n = 0; n < 3; n++) this.#outside(user);
    this.#actor.tell({ op: "begin", user });
    await sleep(this.#random() * LOAD_MS);
    await this.#kill();
    if (this.#owner === user) this.#forgetUnseen(user);
    // A store that compares nothing is told of a change by a load only.
    if (!this.store.detects) await this.#begin(user);
  }

  /** The checkout holds nobody's files any more. */
  #unload() {
    this.#owner = undefined;
    this.#bases.clear();
  }

  /** A load of this user's store went well. */
  #loaded(user) {
    this.#owner = user;
    this.#fresh = true;
    for (const name of this.#unseen.get(user)) if (!this.#intents.has(name)) this.#unseen.get(user).delete(name);
  }
  /** Whether the last step loaded, so that checkout and store can be compared. */
  #fresh = false;
  /** Whether the last step was refused for a conflict, which then has to be shown. */
  #conflictTold = false;

  async #write({ kill = false } = {}) {
    const name = this.#pick(NAMES);
    const text = this.#text(`turn of ${this.#owner}`);
    if (kill) {
      this.#actor.tell({ op: "write", name, text });
      await sleep(this.#random() * 4);
      await this.#kill();
      if (this.#onDisk(name) === text) this.#intend(name, text);
      return;
    }
    const { code, message } = await this.#try({ op: "write", name, text });
    assert.equal(code, undefined, `write: ${message}`);
    this.#intend(name, text);
  }

  async #remove() {
    const name = this.#pick(NAMES);
    const there = this.#onDisk(name) !== undefined;
    const { code, message } = await this.#try({ op: "remove", name });
    assert.equal(code, there ? undefined : "FS_NOT_FOUND", `remove: ${message}`);
    if (there) this.#intend(name, undefined);
  }

  #shellWrite() {
    const name = this.#pick(NAMES);
    const text = this.#text(`shell of ${this.#owner}`);
    shell.write(this.#folder, name, text);
    this.#intend(name, text);
  }

  #shellRemove() {
    const name = this.#pick(NAMES);
    if (this.#onDisk(name) === undefined) return;
    shell.remove(this.#folder, name);
    this.#intend(name, undefined);
  }

  /** Another program's change; now and then the very one that we have made. */
  #outside(user = this.#owner ?? this.#pick(USERS)) {
    const name = this.#pick(NAMES);
    const ours = this.#intents.get(name);
    if (ours?.user === user && ours.text !== undefined && this.#chance(0.2)) {
      this.store.write(name, ours.text, user);
      this.#note(`theirs: ${user}/${name} as ours`);
    } else if (this.#held.get(user).has(name) && this.#chance(0.4)) {
      this.store.remove(name, user);
      this.#note(`theirs: ${user}/${name} removed`);
    } else {
      const text = this.#text(`outside of ${user}`);
      this.store.write(name, text, user);
      this.#note(`theirs: ${user}/${name} = ${text}`);
    }
    this.#unseen.get(user).add(name);
    this.#readStores();
  }

  async #abort() {
    const { code, message } = await this.#try({ op: "abort" });
    assert.equal(code, undefined, message);
    this.#turn = undefined;
  }

  /** finish or commit, with a store that works, fails at its k-th call, or a process that is killed meanwhile. */
  async #commitStep(command, user) {
    const before = new Map(this.#held.get(user));
    const conflicts = this.#owner === user ? this.#listed.conflicts : new Map();
    const free = this.#owner === undefined || this.#owner === user || this.#nothingListed();
    const end = await this.#faulty({ ...command, ...(command.op === "commit" && { user }) });
    this.#note(`${command.op} of ${user}: ${JSON.stringify(end)}`);
    this.#turn = undefined;
    if (!free) {
      // Where the source cannot be reached, it is not known to be another one.
      const codes = end.fault ? /^FS_(CONFLICT|COMMIT_FAILED)$/ : /^FS_CONFLICT$/;
      if (!end.killed) assert.match(end.value.errors.join(), codes, "the other user's store is not for these");
      this.#assertUntouched(user, before);
      return;
    }
    this.#assertTheirsKept(user, before, conflicts);
    if (end.killed) {
      this.#forgetUnseen(user);
      if (this.#owner !== user) this.#unload();
      return;
    }
    assert.equal(end.code, undefined, `${command.op} rejected: ${end.message}`);
    if (this.#owner !== user) this.#unload(); // the checkout is emptied, and is loaded at its next use
    this.#forgetUnseen(user);
    if (end.value.status !== "succeeded") {
      this.#assertCanFail(end);
      return;
    }
    // All that was ours has landed, and the store holds it.
    for (const [name, { user: whose, text, adopted }] of this.#intents) {
      if (adopted) {
        this.#intents.delete(name); // it was the same on both sides
        continue;
      }
      assert.equal(whose, user, `${name} of ${whose} is left after a commit of ${user} that succeeded`);
      if (!this.#takenBack(name, text))
        assert.equal(this.#held.get(user).get(name), text, `${name} was told to have landed`);
      this.#done(name);
    }
  }

  /** What was made by us alone is removed again: theirs, of which we knew nothing, stays. */
  #takenBack(name, text) {
    return text === undefined && this.#bases.get(name)?.has(undefined) === true;
  }

  /** It has landed, or was given up: nothing is to be told of it any more. */
  #done(name) {
    const { user, text } = this.#intents.get(name);
    this.#intents.delete(name);
    this.#bases.set(name, new Set([text]));
    if (this.#held.get(user).get(name) === text) this.#unseen.get(user).delete(name);
  }

  #assertCanFail({ fault, value }) {
    for (const code of value.errors) {
      if (code === "FS_COMMIT_FAILED") assert.ok(fault, "it failed though the store works");
      else assert.equal(code, "FS_CONFLICT");
      if (code === "FS_CONFLICT") this.#conflictTold = true;
    }
    assert.ok(value.errors.length > 0);
  }

  /** Runs a command that commits. Gives { value | code, fault, killed }, and has read the stores. */
  async #faulty(command) {
    const roll = this.#random();
    const k = 1 + Math.floor(this.#random() * 3);
    let end;
    if (roll < 0.45) {
      end = await this.#try(command);
    } else if (roll < 0.7) {
      const when = this.#pick(this.store.faults);
      let heal = () => {};
      if (this.store.calls) await this.#actor.ask({ op: "fail", k, when });
      else heal = this.store.fail(k, when);
      end = { ...(await this.#try(command)), fault: `${when} ${k}` };
      heal();
      // A fault that did not strike is taken away.
      if (this.store.calls) await this.#actor.ask({ op: "fail", k: NEVER, when });
    } else if (roll < 0.85 && this.store.calls) {
      await this.#actor.ask({ op: "fail", k, when: this.#pick(["kill-before", "kill-after"]) });
      end = await this.#actor.ask(command).then(
        (value) => ({ value }),
        (error) => (error.code === undefined ? { killed: true } : this.#failure(command, error)),
      );
      if (end.killed) await this.#kill();
      else await this.#actor.ask({ op: "fail", k: NEVER, when: "before" });
    } else {
      this.#actor.tell(command);
      await sleep(this.#random() * COMMIT_MS);
      await this.#kill();
      end = { killed: true };
    }
    this.#readStores();
    return end;
  }

  /** Whether a commit that ended otherwise has loaded is not known: what came in then is no longer unseen. */
  #forgetUnseen(user) {
    for (const name of this.#unseen.get(user)) if (!this.#intents.has(name)) this.#unseen.get(user).delete(name);
    if (this.#owner !== user) return;
    for (const name of NAMES)
      this.#bases.set(name, (this.#bases.get(name) ?? new Set()).add(this.#held.get(user).get(name)));
  }

  #assertUntouched(user, before) {
    assert.deepEqual([...this.#held.get(user)].sort(), [...before].sort(), `${user}'s store was touched`);
  }

  /** A commit changes only what we changed, to what we made of it, and nothing that others changed meanwhile. */
  #assertTheirsKept(user, before, conflicts) {
    const now = this.#held.get(user);
    for (const name of new Set([...before.keys(), ...now.keys()])) {
      if (before.get(name) === now.get(name)) continue;
      const intent = this.#intents.get(name);
      assert.ok(intent, `${user}/${name} was changed, and not by us: ${before.get(name)} → ${now.get(name)}`);
      assert.equal(intent.user, user, `${name} of ${intent.user} was sent to ${user}`);
      assert.equal(now.get(name), intent.text, `${user}/${name} is not what we made of it`);
      const was = before.get(name);
      const shown = conflicts.get(name);
      const told = shown !== undefined && shown.theirs?.sha256 === (was === undefined ? undefined : sha256(was));
      assert.ok(!told, `${user}/${name} was in conflict and was overwritten`);
      // A change of theirs that goes back to the base leaves ours alone.
      assert.ok(
        (shown === undefined && !this.#unseen.get(user).has(name)) || this.#bases.get(name)?.has(was),
        `${user}/${name} was changed by another program and was overwritten`,
      );
    }
  }

  async #hostChange(command, name, text) {
    const user = this.#owner;
    const before = new Map(this.#held.get(user));
    const { conflicts } = this.#listed;
    const was = this.#intents.get(name);
    this.#intend(name, text);
    const end = await this.#faulty(command);
    this.#note(`${command.op}: ${JSON.stringify(end)}`);
    this.#assertTheirsKept(user, before, conflicts);
    this.#forgetUnseen(user);
    if (end.killed) {
      // It may have been killed before it wrote.
      if (this.#onDisk(name) !== text && this.#held.get(user).get(name) !== text) {
        if (was === undefined) this.#intents.delete(name);
        else this.#intents.set(name, was);
      }
      return;
    }
    if (end.code === undefined) {
      if (!this.#takenBack(name, text))
        assert.equal(this.#held.get(user).get(name), text, `${name} was told to have landed`);
      this.#done(name);
      return;
    }
    if (end.code === "FS_COMMIT_FAILED") {
      assert.ok(end.fault, end.message);
    } else {
      assert.equal(end.code, "FS_CONFLICT", end.message);
      this.#conflictTold = true;
    }
  }

  #hostWrite() {
    const name = this.#pick(NAMES);
    const text = this.#text(`host of ${this.#owner}`);
    return this.#hostChange({ op: "hostWrite", name, text }, name, text);
  }

  async #hostRemove() {
    const name = this.#pick(NAMES);
    if (this.#onDisk(name) === undefined) return;
    await this.#hostChange({ op: "hostRemove", name }, name, undefined);
  }

  async #resolve() {
    const name = this.#pick([...this.#listed.conflicts.keys()]);
    const side = this.#pick(["ours", "theirs"]);
    const { code, message } = await this.#try({ op: "resolve", name, side });
    assert.equal(code, undefined, `resolve: ${message}`);
    this.#note(`${name}: ${side}`);
    // The version that was shown has been decided on; one that came later has not.
    const theirs = this.#listed.conflicts.get(name).theirs?.sha256;
    const now = this.#held.get(this.#owner).get(name);
    if (theirs === (now === undefined ? undefined : sha256(now))) this.#unseen.get(this.#owner).delete(name);
    this.#bases.get(name)?.add(now);
    if (side === "theirs") this.#intents.delete(name);
  }

  async #discard() {
    const name = this.#pick([...this.#listed.pending.keys()]);
    const { code, message } = await this.#try({ op: "discard", names: [name] });
    assert.equal(code, undefined, `discard: ${message}`);
    this.#note(name);
    this.#intents.delete(name);
    this.#forgetUnseen(this.#owner);
    this.#unseen.get(this.#owner).delete(name);
  }

  async #discardAll() {
    const { code, message } = await this.#try({ op: "discard", all: true });
    assert.equal(code, undefined, `discard: ${message}`);
    this.#intents.clear();
    for (const user of USERS) this.#unseen.get(user).clear();
    // Another user's handle finds the checkout of another source: it is emptied.
    this.#unload();
  }

  async #restart() {
    if (this.#chance(0.5)) this.#handleUser = this.#owner ?? this.#pick(USERS);
    await this.#try({ op: "restart", user: this.#handleUser }).then(({ code, message }) =>
      assert.equal(code, undefined, message),
    );
  }

  async #handle() {
    this.#handleUser = this.#pick(USERS);
    await this.#actor.ask({ op: "handle", user: this.#handleUser });
  }

  /** harness.db is gone. A removal that had not landed is in no file: it cannot be known any more. */
  async #loseDatabase() {
    await this.#actor.end();
    for (const name of fs.readdirSync(this.#dataDir))
      if (name.startsWith("harness.db")) fs.rmSync(path.join(this.#dataDir, name));
    this.#handleUser = this.#owner ?? this.#handleUser;
    if (NAMES.every((name) => this.#onDisk(name) === undefined)) this.#unload(); // as if never loaded
    for (const [name, { text }] of this.#intents) if (text === undefined) this.#intents.delete(name);
    this.#amnesia = true;
    await this.#start();
  }

  // ── The judge ──

  #nothingListed() {
    return this.#listed.pending.size === 0 && this.#listed.conflicts.size === 0;
  }

  #onDisk(name) {
    try {
      return fs.readFileSync(path.join(this.#folder, name), "utf8");
    } catch (error) {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      throw error;
    }
  }

  #readStores() {
    for (const user of USERS) {
      const before = this.#held.get(user);
      const now = textsOf(this.store.read(user));
      const history = this.#history.get(user);
      for (const name of new Set([...before.keys(), ...now.keys()])) {
        if (before.get(name) === now.get(name)) continue;
        const states = history.get(name) ?? [[0, undefined]];
        history.set(name, [...states, [this.#step, now.get(name)]]);
      }
      this.#held.set(user, now);
    }
  }

  /** The store held our version at some moment since we made it. */
  #hasLanded(name, { user, text, step }) {
    const states = this.#history.get(user).get(name) ?? [[0, undefined]];
    return states.some(([, held], n) => held === text && (states[n + 1]?.[0] ?? Infinity) >= step);
  }

  async #list() {
    const pending = new Map();
    for (const each of await this.#actor.ask({ op: "pending" })) {
      const name = each.path.slice(DIR.length + 1);
      assert.ok(!pending.has(name), `${name} is pending twice`);
      pending.set(name, each);
    }
    const conflicts = new Map();
    for (const each of await this.#actor.ask({ op: "conflicts" })) {
      const name = each.path.slice(DIR.length + 1);
      assert.ok(!conflicts.has(name), `${name} is in conflict twice`);
      conflicts.set(name, each);
    }
    this.#listed = { pending, conflicts };
    const names = [
      ...[...pending].map(([name, { change, lastError }]) => `${change} ${name} ${lastError?.code ?? ""}`.trim()),
      ...conflicts.keys(),
    ];
    if (names.length > 0)
      this.#note(`listed: ${pending.size} pending, ${conflicts.size} in conflict: ${names.join(", ")}`);
  }

  async #judge() {
    this.#readStores();
    await this.#list();
    const { pending, conflicts } = this.#listed;
    const fresh = this.#fresh;
    this.#fresh = false;
    // To list the changes of a checkout whose base is lost the dir loads, where this handle's source is the right one.
    if (this.#amnesia) this.#adopt(fresh || (this.#owner !== undefined && this.#handleUser === this.#owner));

    for (const [name, intent] of this.#intents) {
      const shown = `${name} (${intent.text ?? "removed"})`;
      const isPending = pending.has(name);
      const inConflict = conflicts.has(name);
      assert.ok(!(isPending && inConflict), `${shown} is pending and in conflict`);
      if (!isPending && !inConflict) {
        // Made and taken away again, or back to what it was: no change.
        if (this.#bases.get(name)?.has(intent.text)) {
          this.#intents.delete(name);
          continue;
        }
        assert.ok(this.#hasLanded(name, intent), `${shown} is lost: not in the store, not pending, not in conflict`);
        this.#done(name);
        continue;
      }
      // What is listed is our version, and it is there to be read.
      const side = isPending ? pending.get(name) : conflicts.get(name).ours;
      const removed = isPending ? side.change === "deleted" : side === undefined;
      assert.equal(
        removed ? undefined : side.sha256,
        intent.text === undefined ? undefined : sha256(intent.text),
        shown,
      );
      assert.equal(this.#onDisk(name), intent.text, `${shown}: the checkout holds something else`);
      if (fresh && isPending)
        assert.notEqual(this.#held.get(intent.user).get(name), intent.text, `${shown} has landed and is pending`);
    }
    for (const name of [...pending.keys(), ...conflicts.keys()])
      assert.ok(this.#intents.has(name), `${name} is told to be a change of ours, and is none`);
    if (this.#conflictTold && !this.#amnesia) assert.ok(conflicts.size > 0, "refused for a conflict that is not shown");
    this.#conflictTold = false;
    if (fresh) this.#assertRefreshed();
  }

  /** After a load the checkout is the store, but for our changes. */
  #assertRefreshed() {
    const held = this.#held.get(this.#owner);
    for (const name of NAMES) {
      const { pending, conflicts } = this.#listed;
      if (pending.has(name) || conflicts.has(name)) continue;
      assert.equal(this.#onDisk(name), held.get(name), `${name} after a load`);
      this.#bases.set(name, new Set([held.get(name)]));
    }
    for (const [name, conflict] of this.#listed.conflicts) {
      const theirs = held.get(name);
      assert.equal(conflict.theirs?.sha256, theirs === undefined ? undefined : sha256(theirs), `theirs of ${name}`);
      assert.notEqual(theirs, this.#intents.get(name)?.text, `${name} is the same on both sides`);
    }
  }

  /** Without a base every file that differs from the store counts as ours: it is kept, and told. */
  #adopt(loaded) {
    const { pending, conflicts } = this.#listed;
    for (const name of [...pending.keys(), ...conflicts.keys()]) {
      const known = this.#intents.get(name);
      this.#bases.set(name, new Set([undefined]));
      if (known === undefined || known.adopted)
        this.#intents.set(name, { user: this.#owner, text: this.#onDisk(name), step: this.#step, adopted: true });
    }
    for (const [name, { adopted }] of this.#intents)
      if (adopted && !pending.has(name) && !conflicts.has(name)) this.#intents.delete(name);
    if (!loaded) return;
    // All else came in by that load.
    this.#amnesia = false;
    for (const name of NAMES) {
      if (pending.has(name) || conflicts.has(name) || this.#intents.has(name)) continue;
      this.#unseen.get(this.#owner).delete(name);
      this.#bases.set(name, new Set([this.#held.get(this.#owner).get(name)]));
    }
  }

  /** At last all that is left is landed or given up: there is always a way out. */
  async #wayOut() {
    this.log.push("the way out");
    if (this.#turn !== undefined) await this.#abort();
    let owner = this.#owner ?? this.#handleUser;
    if (this.#owner === undefined) {
      // One of them it is.
      for (const user of USERS) if (this.#turn === undefined) await this.#begin(user);
      assert.ok(this.#turn !== undefined, "the dir is nobody's");
      owner = this.#turn;
      await this.#judge();
      await this.#abort();
    }
    if (this.#handleUser !== owner) {
      this.#handleUser = owner;
      await this.#actor.ask({ op: "handle", user: owner });
    }
    for (let round = 0; round < 2; round++) {
      await this.#begin(owner);
      await this.#judge();
      for (const name of this.#listed.conflicts.keys()) {
        const { code, message } = await this.#try({ op: "resolve", name, side: "ours" });
        assert.equal(code, undefined, message);
      }
      const { value } = await this.#try({ op: "finish" });
      this.#turn = undefined;
      assert.equal(value.status, "succeeded", JSON.stringify(value));
      this.#readStores();
      for (const [name, { user, text }] of this.#intents) assert.equal(this.#held.get(user).get(name), text, name);
      this.#intents.clear();
      await this.#judge();
    }
    assert.ok(this.#nothingListed());
    for (const name of NAMES) assert.equal(this.#onDisk(name), this.#held.get(owner).get(name), name);
  }
}
