// `s3Dir` as a store of the suites (see support/persistent/stores.mjs): its own client talks through a proxy of its own, another
// program's straight to the server.
import { randomUUID } from "node:crypto";
import { s3Dir } from "@little-stack/files/s3";
import { BUCKET } from "../../../scripts/engines/s3.mjs";
import { after } from "../host.mjs";
import { clientAt } from "./client.mjs";
import { outsideOf } from "./outside.mjs";
import { Proxy } from "./proxy.mjs";
import { s3Server } from "./server.mjs";

/** A new, empty store; `options` are those of `s3Dir`, `client` those of its client. */
export const newS3Store =
  ({ options = {}, client = {} } = {}) =>
  async (t) => {
    const server = await s3Server(t);
    if (server === undefined) return undefined;
    const spec = { module: import.meta.url, port: server.port, prefix: `${randomUUID()}/`, options, client };
    const store = openStore(spec);
    after(t, () => store.close());
    return store;
  };

export function openStore(spec) {
  return new S3Store(spec);
}

class S3Store {
  kind = "s3";
  atomic = false;
  detects = true;
  faults = ["before", "after"];
  #heal = () => {};

  constructor(spec) {
    this.spec = spec;
    this.proxy = new Proxy(() => spec.port);
    this.client = clientAt(() => this.proxy.port(), spec.client);
    this.outside = outsideOf(spec.port);
  }

  /** Each request of the store, and the object that it is about. */
  get calls() {
    return this.proxy.requests.map(({ key, ...more }) => ({ ...more, key, path: key.split("/").slice(2).join("/") }));
  }
  get commitCalls() {
    return this.calls.filter(({ commits }) => commits);
  }

  prefix(user = "shared") {
    return `${this.spec.prefix}${user}/`;
  }
  read(user) {
    return this.outside.read(this.prefix(user));
  }
  write(name, content, user) {
    this.outside.write(this.prefix(user) + name, content);
  }
  remove(name, user) {
    this.outside.remove(this.prefix(user) + name);
  }

  key(name, user) {
    return this.prefix(user) + name;
  }

  /** In place of the one before. */
  fail(k, when) {
    this.#heal();
    return (this.#heal = this.proxy.fail(k, when));
  }
  failLoad() {
    return this.proxy.fail(1, "before", { of: ({ query }) => query["list-type"] === "2", times: Infinity });
  }

  dir({ harnessDir, commit, ...more }) {
    delete more.byUser; // it always is
    const prefix = (ctx) => this.prefix(ctx.extraBody?.user);
    const options = { ...this.spec.options, ...more };
    return s3Dir({ client: this.client, bucket: BUCKET, prefix, harnessDir, ...(commit && { commit }), ...options });
  }

  async close() {
    this.client.destroy();
    await this.proxy.close();
  }
}
