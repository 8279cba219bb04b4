// What a store of the tests holds, in a folder: other processes go on with it. A state is replaced whole, by one rename,
// so that a kill leaves the one before or the one after.
import fs from "node:fs";
import path from "node:path";
import { sha256 } from "../tree.mjs";

export class Backing {
  #folder;

  constructor(folder) {
    this.#folder = folder;
    fs.mkdirSync(path.join(folder, "blobs"), { recursive: true });
  }

  #load() {
    try {
      const { revision, files, commits, touched } = JSON.parse(
        fs.readFileSync(path.join(this.#folder, "index.json"), "utf8"),
      );
      return { revision, files: new Map(files), commits: new Map(commits), touched: new Map(touched) };
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
      return { revision: 0, files: new Map(), commits: new Map(), touched: new Map() };
    }
  }

  #save({ revision, files, commits, touched }) {
    const text = JSON.stringify({ revision, files: [...files], commits: [...commits], touched: [...touched] });
    const aside = path.join(this.#folder, `index.${process.pid}`);
    fs.writeFileSync(aside, text);
    fs.renameSync(aside, path.join(this.#folder, "index.json"));
  }

  get revision() {
    return this.#load().revision;
  }

  /** Path → { version, sha256 }, sorted. A version is never used twice, also not for the same content. */
  versions() {
    return new Map([...this.#load().files].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  bytesOf(name) {
    const file = this.#load().files.get(name);
    return file && fs.readFileSync(path.join(this.#folder, "blobs", file.sha256));
  }

  read() {
    return new Map([...this.versions().keys()].map((name) => [name, this.bytesOf(name)]));
  }

  /** The revision that this commit made, if it was applied. */
  revisionOf(commitId) {
    return this.#load().commits.get(commitId);
  }

  /** What changed after a revision. */
  since(revision) {
    return [...this.#load().touched].filter(([, at]) => at > revision).map(([name]) => name);
  }

  /** `changes`: [path, bytes], without bytes to delete. All of them or, when the process is killed, none. */
  change(changes, commitId) {
    const state = this.#load();
    state.revision++;
    for (const [name, bytes] of changes) {
      state.touched.set(name, state.revision);
      if (bytes === undefined) {
        state.files.delete(name);
      } else {
        const digest = sha256(bytes);
        const blob = path.join(this.#folder, "blobs", digest);
        if (!fs.existsSync(blob)) {
          fs.writeFileSync(`${blob}.${process.pid}`, bytes);
          fs.renameSync(`${blob}.${process.pid}`, blob);
        }
        state.files.set(name, { version: `v${state.revision}`, sha256: digest });
      }
    }
    if (commitId !== undefined) state.commits.set(commitId, state.revision);
    this.#save(state);
    return state.revision;
  }
}
