// The store behind an `s3Dir`.
import type { LoadContext } from "../../index.js";
import { HarnessFileError, describe } from "../errors.js";
import { ignore } from "../cancellation.js";
import { isConflict } from "../persistent/conflict.js";
import type { CommitContext, Loading, OutgoingChange, ScopeContext, Store } from "../persistent/store.js";
import { Bucket, type Client } from "./bucket.js";
import { told } from "./failure.js";
import { loadPrefix } from "./load.js";
import { Room } from "./room.js";
import { send } from "./send.js";

export type Prefix = string | ((ctx: ScopeContext) => unknown);

export interface S3Options {
  readonly client: Client;
  readonly bucket: string;
  readonly prefix: Prefix;
  readonly concurrency: number;
  readonly conditional: boolean;
}

/** By the changes of one commit. */
interface Shared {
  readonly requests: Room;
  readonly memory: Room;
}

/** Of contents that one commit has in memory at once. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** So that the scope fits what is kept of it, with the longest bucket. */
const MAX_PREFIX_LENGTH = 870;

export class S3Store implements Store {
  readonly kind = "s3";
  /** Twice the requests: some changes are read from the disk, or recorded, while others are under way. */
  readonly concurrency: number;
  readonly #requests: number;
  readonly #bucket: Bucket;
  readonly #prefix: Prefix;
  readonly #conditional: boolean;
  /** Stands before the prefix in the scope. */
  readonly #above: string;
  readonly #commits = new WeakMap<CommitContext, Shared>();

  constructor({ client, bucket, prefix, concurrency, conditional }: S3Options) {
    this.concurrency = 2 * concurrency;
    this.#requests = concurrency;
    this.#bucket = new Bucket(client, bucket);
    this.#prefix = prefix;
    this.#above = `s3://${bucket}/`;
    this.#conditional = conditional;
  }

  scope(ctx: ScopeContext): string {
    return this.#above + this.#prefixFor(ctx);
  }

  overlaps(other: Store): boolean {
    if (!(other instanceof S3Store) || !this.#bucket.isSame(other.#bucket)) return false;
    const [one, two] = [this.#prefix, other.#prefix];
    return typeof one === "string" && typeof two === "string" && (one.startsWith(two) || two.startsWith(one));
  }

  async load(ctx: LoadContext, loading: Loading, scope: string): Promise<{ cursor?: unknown }> {
    const { abortSignal: signal } = ctx;
    const prefix = scope.slice(this.#above.length);
    try {
      await loadPrefix(this.#bucket, prefix, loading.begin(true), { concurrency: this.#requests, signal });
    } catch (error) {
      throw told("FS_LOAD_FAILED", this.#bucket.name, error);
    }
    return {};
  }

  async send(ctx: CommitContext, change: OutgoingChange, scope: string): Promise<{ version?: string }> {
    const shared = this.#sharedBy(ctx);
    const key = scope.slice(this.#above.length) + change.path;
    const where = { bucket: this.#bucket, key, conditional: this.#conditional };
    try {
      return await send({ ...where, ...shared, signal: ctx.abortSignal }, change);
    } catch (error) {
      if (isConflict(error)) throw error;
      throw told("FS_COMMIT_FAILED", this.#bucket.name, error, change.path);
    }
  }

  #sharedBy(ctx: CommitContext): Shared {
    let shared = this.#commits.get(ctx);
    if (shared === undefined) {
      shared = { requests: new Room(this.#requests), memory: new Room(MAX_HELD_BYTES) };
      this.#commits.set(ctx, shared);
    }
    return shared;
  }

  #prefixFor({ extraBody, sessionId }: ScopeContext): string {
    if (typeof this.#prefix === "string") return this.#prefix;
    return checkPrefix(this.#prefix({ ...(extraBody !== undefined && { extraBody }), sessionId }));
  }
}

/** No segment that some client or proxy on the way would resolve: it would be the prefix of somebody else. */
export function checkPrefix(prefix: unknown): string {
  if (typeof prefix === "string" && prefix.isWellFormed()) {
    const plain = !/[\u0000-\u001f\u007f-\u009f]/.test(prefix) && !/(^|\/)\.{1,2}\//.test(prefix);
    if (prefix.endsWith("/") && prefix.length <= MAX_PREFIX_LENGTH && plain) return prefix;
  }
  if (prefix instanceof Promise) prefix.catch(ignore); // refused, and nobody else waits for it
  const accepted = `a string of at most ${MAX_PREFIX_LENGTH} characters that ends with "/", without . and .. segments`;
  const given = typeof prefix === "string" ? JSON.stringify(prefix.slice(0, 100)) : describe(prefix);
  throw new HarnessFileError("FS_INVALID_OPTION", `prefix must be or give ${accepted}, not ${given}`, {
    details: { option: "prefix" },
  });
}
