// Looks at everything that the package shows and notes whatever holds a host path (promise G8).
// Every host of `withHost` is watched, so that each suite proves G8 for what it does.

const KEPT = 20_000;
/** Unique names of the temporary folders in use: a text that holds one shows a host path. */
export const needles = new Set();

/** Everything seen in this process, the newest left out past a bound; leaks are always noted. */
export const observed = { errors: [], events: [], refs: [], entries: [], other: [], leaks: [] };

const BUCKETS = { error: "errors", event: "events", ref: "refs", entry: "entries" };

export function see(kind, value) {
  const bucket = observed[BUCKETS[kind] ?? "other"];
  if (bucket.length < KEPT) bucket.push(value);
  const text = textOf(value);
  for (const needle of needles) {
    if (text.includes(needle)) observed.leaks.push({ kind, needle, text: text.slice(0, 2000) });
  }
}

/** All that a developer or a model may come to see of a value, without file contents. */
export function textOf(value) {
  if (value instanceof Error) return errorText(value);
  try {
    return (
      JSON.stringify(value, (key, inner) => {
        if (inner instanceof Uint8Array) return `(${inner.byteLength} bytes)`;
        if (typeof inner === "bigint") return String(inner);
        return inner;
      }) ?? String(value)
    );
  } catch {
    return String(value);
  }
}

/** Causes that are the caller's own error (a failed source, an abort reason) are not ours to judge. */
const CALLERS_CAUSE = new Set(["FS_INVALID_CONTENT", "FS_ABORTED"]);

function errorText(error, depth = 0) {
  const own = {};
  for (const key of Object.getOwnPropertyNames(error)) if (key !== "cause") own[key] = error[key];
  let text = `${error.name}: ${error.message}\n${textOf(own)}`;
  if (error.cause !== undefined && depth < 5 && !CALLERS_CAUSE.has(error.code)) {
    text += `\ncause: ${error.cause instanceof Error ? errorText(error.cause, depth + 1) : textOf(error.cause)}`;
  }
  return text;
}

function seeResult(value) {
  if (value === null || value === undefined || typeof value !== "object") return;
  if (Array.isArray(value)) {
    for (const item of value) seeResult(item);
  } else if (typeof value.kind === "string" && typeof value.path === "string") {
    see("entry", value);
  } else if (typeof value.path === "string") {
    const { content: _, ...facts } = value;
    see("ref", facts);
  } else if (!(typeof value.getReader === "function") && typeof value.files !== "object") {
    see("other", value);
  }
}

/** The same object; whatever its methods resolve or reject with is seen. Host paths that were asked for are let through. */
export function watch(object, inner = {}) {
  return new Proxy(object, {
    get(target, key) {
      const value = target[key];
      if (key in inner && value !== undefined) return inner[key](value);
      if (typeof value !== "function") return value;
      return (...args) => {
        const result = value.apply(target, args);
        if (typeof result?.then === "function") {
          result.then(seeResult, (error) => see("error", error));
        }
        return result;
      };
    },
  });
}

const once = (wrap) => {
  const made = new WeakMap();
  return (object) => {
    if (!made.has(object)) made.set(object, wrap(object));
    return made.get(object);
  };
};
export const watchSession = once((session) =>
  watch(session, { files: once(watch), artifacts: once(watch), persistence: once(watch) }),
);
