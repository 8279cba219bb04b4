// Messages with files, for the tests of staging.

const dataUrl = (text, mediaType = "text/plain") => `data:${mediaType};base64,${Buffer.from(text).toString("base64")}`;
export const file = (filename, text, mediaType) => ({
  type: "file",
  mediaType: mediaType ?? "text/plain",
  filename,
  url: dataUrl(text, mediaType),
});
export const user = (id, ...parts) => ({
  ...(id !== undefined && { id }),
  role: "user",
  parts: [{ type: "text", text: "look" }, ...parts],
});
export const textOf = (message) => message.parts.filter(({ type }) => type === "text").map(({ text }) => text);
export const fails = async () => {
  throw new Error("the hook said no");
};

/** Fails when anything in it changes. */
export function frozen(value) {
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    for (const each of Object.values(value)) frozen(each);
    Object.freeze(value);
  }
  return value;
}
