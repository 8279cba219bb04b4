// A proxy before the server that reads along, so that a connection can be cut at any query, or an answer be lost after the
// server did what it was asked to.
import { once } from "node:events";
import net from "node:net";

/** "Z": the server has done what it was asked to. */
const READY = 0x5a;

export class Proxy {
  /**
   * Called with { text, n, writes } for each query before the server gets it, which waits for its promise. "cut": the connection
   * ends here; "lose": once the server has done it, without its answer; "hangup": after the answer.
   */
  onQuery = undefined;
  /** Nobody gets through. */
  #down = false;
  #server;
  #links = new Set();
  /** Queries so far. */
  queries = [];

  static async open(port) {
    const proxy = new Proxy();
    proxy.#server = net.createServer((client) => proxy.#link(client, port));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port() {
    return this.#server.address().port;
  }

  set down(down) {
    this.#down = down;
    if (down) for (const link of this.#links) link.cut();
  }

  /** Until the server has done with all that those who are gone had sent it. */
  async settle() {
    await new Promise((resolve) => {
      setTimeout(resolve, 3);
    });
    while ([...this.#links].some((link) => link.isLeft)) {
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
  }

  async close() {
    this.down = true;
    this.#server.close();
    await once(this.#server, "close");
  }

  #link(client, port) {
    if (this.#down) return client.destroy();
    const link = new Link(client, net.connect(port, "127.0.0.1"), (text, writes) => {
      this.queries.push(text);
      return this.onQuery?.({ text, writes, n: this.queries.length });
    });
    this.#links.add(link);
    link.ended.then(() => this.#links.delete(link));
  }
}

class Link {
  #client;
  #server;
  #ask;
  #started = false;
  #writes = false;
  #text = "";
  /** How the connection ends with the next answer. */
  #end;
  #work = Promise.resolve();
  #fromClient = Buffer.alloc(0);
  #fromServer = Buffer.alloc(0);
  isLeft = false;

  constructor(client, server, ask) {
    this.#client = client;
    this.#server = server;
    this.#ask = ask;
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => {});
    client.on("data", (data) => {
      this.#work = this.#work.then(() => this.#sent(data));
    });
    client.on("close", () => {
      this.isLeft = true;
      this.#work.then(() => server.end()); // it does what it got, and then leaves
    });
    server.on("data", (data) => this.#answered(data));
    server.on("close", () => client.destroy());
    this.ended = new Promise((resolve) => {
      server.once("close", resolve);
    });
  }

  cut() {
    this.#client.destroy();
    this.#server.destroy();
  }

  async #sent(data) {
    this.#fromClient = Buffer.concat([this.#fromClient, data]);
    for (;;) {
      const rest = this.#fromClient;
      const head = this.#started ? 1 : 0; // the first message has no type
      if (rest.length < head + 4) return;
      const length = head + rest.readUInt32BE(head);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      this.#fromClient = rest.subarray(length);
      if (!(await this.#pass(this.#started ? String.fromCharCode(message[0]) : "", message))) return this.cut();
      this.#started = true;
    }
  }

  async #pass(type, message) {
    if (type === "P") this.#text = message.toString("utf8", 6, message.indexOf(0, 6));
    if (type === "Q") this.#text = message.toString("utf8", 5, message.length - 1);
    if (type === "Q" || type === "S") {
      if (this.#text.startsWith("BEGIN")) this.#writes = this.#text.includes("READ WRITE");
      const action = await this.#ask(this.#text, this.#writes);
      if (action === "cut") return false;
      this.#end = action;
    }
    if (!this.#server.destroyed) this.#server.write(message);
    return true;
  }

  #answered(data) {
    if (this.#end !== "lose" && !this.#client.destroyed) this.#client.write(data);
    if (this.#end === undefined) return;
    this.#fromServer = Buffer.concat([this.#fromServer, data]);
    while (this.#fromServer.length >= 5) {
      const length = 1 + this.#fromServer.readUInt32BE(1);
      if (this.#fromServer.length < length) return;
      if (this.#fromServer[0] === READY) return this.#client.end(() => this.cut());
      this.#fromServer = this.#fromServer.subarray(length);
    }
  }
}
