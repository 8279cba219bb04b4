import * as check from "./check.js";
import { toFileError, unwrap } from "./errors.js";
import { sessionInfo } from "./facts.js";
import { Session } from "./session.js";
const PAGE = 512;
export class Sessions {
    #native;
    #addon;
    #gate;
    #sink;
    #open = new Set();
    constructor(native, addon, gate, sink) {
        this.#native = native;
        this.#addon = addon;
        this.#gate = gate;
        this.#sink = sink;
    }
    getOrCreate(options) {
        return this.#perform(async () => {
            const { id, metadata } = check.readOptions(options, (given) => ({
                id: check.sessionId(given["id"]),
                metadata: check.jsonObject(given, "metadata"),
            }));
            const session = await this.#find(id, true, metadata);
            if (session === undefined)
                throw new Error("the addon made no session");
            return session;
        });
    }
    get(id) {
        return this.#perform(() => this.#find(check.sessionId(id), false));
    }
    async #find(id, create, metadata) {
        const native = unwrap(await this.#native.openSession(id, create, metadata));
        if (native === null)
            return undefined;
        const session = new Session(native, this.#addon, this.#sink, (closed) => this.#open.delete(closed));
        this.#open.add(session);
        return session;
    }
    list(options) {
        return this.#perform(async () => {
            const given = check.readOptions(options, (read) => ({
                limit: check.limit(read) ?? Infinity,
                after: read["after"] === undefined ? undefined : check.sessionId(read["after"]),
            }));
            const all = [];
            let { after } = given;
            while (all.length < given.limit) {
                const size = Math.min(PAGE, given.limit - all.length);
                const page = unwrap(await this.#native.listSessions(size, after));
                for (const info of page)
                    all.push(sessionInfo(info));
                if (page.length < size)
                    break;
                after = page.at(-1)?.id;
            }
            return all;
        });
    }
    delete(id) {
        return this.#perform(async () => {
            unwrap(await this.#native.deleteSession(check.sessionId(id)));
        });
    }
    async #perform(work) {
        this.#gate.enter();
        try {
            return await work();
        }
        catch (error) {
            throw toFileError(error);
        }
        finally {
            this.#sink.deliverAll(this.#native.takeEvents());
            this.#gate.leave();
        }
    }
    async closeAll() {
        await Promise.all([...this.#open].map((session) => session.close()));
    }
}
