// A proxy on loopback between a client and the S3 server, which sees each request and makes connections fail.
import http from "node:http";

/** An S3 object's key: the path without the bucket. */
const keyOf = (path) => path.split("/").slice(2).map(decodeURIComponent).join("/");

export class Proxy {
  /** What was asked: { method, key, query, headers, commits, status }. `commits`: it makes or removes an object. */
  requests = [];
  #faults = [];
  #server;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 200 });
  #target;
  #listening;

  /** `target()` gives the server's port, at each request. */
  constructor(target) {
    this.#target = target;
  }

  /** The port; it listens from the first call on. Does not keep the process alive. */
  port() {
    this.#listening ??= new Promise((resolve) => {
      this.#server = http.createServer((request, response) => this.#handle(request, response));
      this.#server.on("checkContinue", (request, response) => {
        response.writeContinue();
        this.#handle(request, response);
      });
      this.#server.keepAliveTimeout = 60_000;
      this.#server.on("connection", (socket) => socket.unref());
      this.#server.listen(0, "127.0.0.1", () => resolve(this.#server.address().port)).unref();
    });
    return this.#listening;
  }

  /**
   * The k-th request that `of` is true for fails, and `times - 1` after it: `how` is
   *   "before"  the connection is cut, the server never hears of it
   *   "after"   the server has applied it, and the connection is cut before the answer
   *   "midway"  the connection is cut in the middle of the answer's body
   *   "kill-before", "kill-after"  this process is killed at those moments
   *   { status, code, headers }  the server's part is played: it refuses
   *   a function        is called, and may give one of those above; else all goes well
   * Gives a function that takes the fault away.
   */
  fail(k, how, { of = (request) => request.commits, times = 1 } = {}) {
    const fault = { left: k, how, of, times };
    this.#faults.push(fault);
    return () => {
      this.#faults = this.#faults.filter((each) => each !== fault);
    };
  }

  /** Every fault counts it, whichever strikes. */
  #fault(record) {
    let how;
    for (const fault of this.#faults) {
      if (!fault.of(record)) continue;
      fault.left--;
      if (fault.left <= 0 && fault.left > -fault.times) how ??= fault.how;
    }
    return how;
  }

  async #handle(request, response) {
    const url = new URL(request.url, "http://localhost");
    const query = Object.fromEntries(url.searchParams);
    const [path] = request.url.split("?");
    const object = keyOf(path) !== "";
    const part = query.partNumber !== undefined || query.uploads !== undefined;
    const aborts = request.method === "DELETE" && query.uploadId !== undefined;
    const commits = object && ["PUT", "POST", "DELETE"].includes(request.method) && !part && !aborts;
    const { method, headers } = request;
    const record = { method, key: keyOf(path), query, headers, commits };
    this.requests.push(record);
    const struck = this.#fault(record);
    const how = typeof struck === "function" ? await struck() : struck;
    if (how === "kill-before") process.kill(process.pid, "SIGKILL");
    if (how === "before") return void request.socket.destroy();
    if (how?.status !== undefined) return refuse(request, response, how);
    this.#forward(request, response, record, how);
  }

  #forward(request, response, record, how) {
    const { method, url: path } = request;
    const headers = { ...request.headers };
    delete headers.expect; // answered here
    const asked = { host: "127.0.0.1", port: this.#target(), method, path, headers, agent: this.#agent };
    const onward = http.request(asked, async (answer) => {
      if (how === "after" || how === "kill-after") {
        for await (const _ of answer); // it has been applied when all of the answer is there
        if (how === "kill-after") process.kill(process.pid, "SIGKILL");
        return void request.socket.destroy();
      }
      response.writeHead(answer.statusCode, answer.rawHeaders);
      record.status = answer.statusCode;
      if (how === "midway") {
        const [first] = await answer.take(1).toArray();
        response.write(first.subarray(0, first.length >> 1), () => request.socket.destroy());
        return;
      }
      answer.on("error", () => request.socket.destroy());
      answer.pipe(response);
    });
    onward.on("error", () => request.socket.destroy());
    request.on("error", () => onward.destroy());
    request.pipe(onward);
  }

  async close() {
    if (this.#listening === undefined) return;
    await this.#listening;
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

async function refuse(request, response, { status, code, headers }) {
  for await (const _ of request);
  response.writeHead(status, { "content-type": "application/xml", ...headers });
  response.end(
    request.method === "HEAD"
      ? ""
      : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>played</Message></Error>`,
  );
}
