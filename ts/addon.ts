// The one module that loads the addon, and only when the first host is opened: types and errors work without it.
import { createRequire } from "node:module";
import { HarnessFileError } from "./errors.js";
import type { Addon } from "./native.js";

const MAX_ATTEMPTS = 20;
const MAX_ATTEMPT_LENGTH = 240;

const require = createRequire(import.meta.url);
let loaded: Addon | undefined;

export function addon(): Addon {
  return (loaded ??= load());
}

function load(): Addon {
  let binding: Partial<Addon>;
  try {
    binding = require("../binding.cjs") as Partial<Addon>;
  } catch (cause) {
    throw notLoaded(attempts(cause), cause);
  }
  if (typeof binding.NativeHost !== "function" || typeof binding.NativeCancel !== "function") {
    throw notLoaded(["the addon is of another version of this package"]);
  }
  return binding as Addon;
}

/** The generated loader tries several files and packages, and chains their errors by `cause`, the last one first. */
function attempts(error: unknown): string[] {
  const all: string[] = [];
  for (let each = error; each instanceof Error && all.length < MAX_ATTEMPTS; each = each.cause) {
    const code: unknown = Reflect.get(each, "code");
    const [line = ""] = each.message.split("\n");
    const text = line.length > MAX_ATTEMPT_LENGTH ? `${line.slice(0, MAX_ATTEMPT_LENGTH)}…` : line;
    all.push(typeof code === "string" ? `${code}: ${text}` : text);
  }
  return all.length > 0 ? all : [String(error)];
}

function notLoaded(tried: string[], cause?: unknown): HarnessFileError {
  const platform = `${process.platform}-${process.arch}${libc()}`;
  const lines = [
    `The native addon could not be loaded on ${platform}, Node ${process.version}.`,
    "Reinstall with optional dependencies (no --omit=optional), on the platform where it runs; in a checkout run `npm run build`.",
    ...tried.map((attempt) => `- ${attempt}`),
  ];
  return new HarnessFileError("FS_NATIVE_BINDING", lines.join("\n"), {
    details: { platform, node: process.version, attempts: tried },
    ...(cause !== undefined && { cause }),
  });
}

function libc(): string {
  if (process.platform !== "linux") return "";
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  report.excludeNetwork = true; // looking up names takes seconds
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const version = header?.glibcVersionRuntime;
  return version === undefined ? " (musl)" : ` (glibc ${version})`;
}
