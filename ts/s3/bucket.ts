// The requests that are made of a bucket.
import { listen, unlisten } from "../cancellation.js";
import { RequestFailed, isMissing } from "./failure.js";
import { type Operation, type Operations, commandOf } from "./sdk.js";

/** An `S3Client`, as far as it is used. */
export interface Client {
  send(command: object, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

type Signal = AbortSignal | undefined;
type Output<Name extends Operation> = Operations[Name][1];
type Input<Name extends Operation> = Omit<Operations[Name][0], "Bucket">;

export class Bucket {
  readonly name: string;
  readonly #client: Client;

  constructor(client: Client, name: string) {
    this.#client = client;
    this.name = name;
  }

  isSame(other: Bucket): boolean {
    return this.#client === other.#client && this.name === other.name;
  }

  /** Throws RequestFailed. */
  async ask<Name extends Operation>(operation: Name, input: Input<Name>, signal: Signal): Promise<Output<Name>> {
    const command = await commandOf(operation, { Bucket: this.name, ...input });
    try {
      return (await this.#send(command, signal)) as Output<Name>;
    } catch (error) {
      throw new RequestFailed(operation, error);
    }
  }

  /** The client listens to a signal for each request, and Node warns of a signal that many listen to: each gets its own. */
  async #send(command: object, signal: Signal): Promise<unknown> {
    if (signal === undefined) return this.#client.send(command);
    const own = new AbortController();
    const ending = { abort: () => own.abort(signal.reason) };
    if (signal.aborted) ending.abort();
    listen(signal, ending);
    try {
      return await this.#client.send(command, { abortSignal: own.signal });
    } finally {
      unlisten(signal, ending);
    }
  }

  /** undefined where there is no such object. */
  async askOf<Name extends "HeadObject" | "GetObject">(
    operation: Name,
    key: string,
    signal: Signal,
  ): Promise<Output<Name> | undefined> {
    try {
      return await this.ask(operation, { Key: key } as Input<Name>, signal);
    } catch (error) {
      if (error instanceof RequestFailed && isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * Whether the client puts checksums on what it sends unasked; those of parts have to be announced. One that does not show its
   * settings, as a wrapped one, is taken to: that is the SDK's default, and parts with checksums that nobody announced are refused.
   */
  async sendsChecksums(): Promise<boolean> {
    const { config } = this.#client as { config?: { requestChecksumCalculation?: unknown } };
    if (config === undefined) return true;
    const setting = config?.requestChecksumCalculation;
    const value: unknown = typeof setting === "function" ? await (setting as () => unknown)() : setting;
    return value === "WHEN_SUPPORTED";
  }
}
