// The tool `write`: a whole text file.
import { HarnessFileError } from "../errors.js";
import { withText } from "../file-system/codes.js";
import { writeGuarded } from "../file-system/write-guarded.js";
import { MAX_BYTES } from "./attachment.js";
import { final } from "./next-step.js";
import { type Call, type FileTool, type Kit, fileTool } from "./tool.js";

export function writeTool(kit: Kit): FileTool {
  const { names, observer } = kit;
  return fileTool(kit, {
    name: "write",
    description: `Writes a text file as a whole; folders are made as needed.${kit.guardText} To change some lines use ${names.edit}.`,
    properties: {
      file_path: { type: "string", description: "Absolute path of the file" },
      content: { type: "string", description: "All that the file is to hold" },
    },
    required: ["file_path", "content"],
    run: async (input, call) => {
      const path = input.text("file_path");
      const content = input.text("content");
      const target = await call.target(path);
      const guard = await call.decided(path, () => observer.writeIntent(target, call.actor));
      const { signal } = call;
      const written = writeGuarded(call.access, path, content, guard, { signal });
      const {
        operation,
        version,
        written: file,
      } = await written.catch(async (error: unknown) => {
        throw (await unreadable(kit, path, call, error)) ?? error;
      });
      observer.present(target, version, call.actor);
      return `${operation === "create" ? "Created" : "Replaced"} ${file.path} (${file.bytes} bytes)`;
    },
  });
}

/** To read it first would lead to the same refusal again and again. */
async function unreadable(
  { names }: Kit,
  path: string,
  call: Call,
  error: unknown,
): Promise<HarnessFileError | undefined> {
  if (!(error instanceof HarnessFileError) || error.code !== "FS_NOT_OBSERVED" || error.reason !== undefined)
    return undefined;
  const options = { offset: 0, limit: 8192 };
  try {
    const window = await call.access.call("write", path, call.signal, (native, checked, cancellation) =>
      native.byteWindow(checked, options, cancellation?.native),
    );
    if (window.media === undefined || window.bytes <= MAX_BYTES) return undefined;
  } catch (unread) {
    if (!(unread instanceof HarnessFileError) || unread.code !== "FS_NOT_TEXT") return undefined;
  }
  const text = `A file that cannot be read as text is already there: ${path}. Name another path, or remove it with ${names.remove} if it is to be replaced.`;
  return final(withText(error, text));
}
