// staging.mjs DATADIR NAME COUNT [HOW]: stages COUNT messages, one call after the other, beside another program that does the
// same. Says which it staged itself, and which notice each has. HOW "hang": says "in hook" inside its first hook and stays there.
import { localHost } from "@little-stack/files";

const [dataDir, name, count, how] = process.argv.slice(2);
const host = localHost({ dataDir });
const session = await host.sessions.getOrCreate({ id: "staging" });
const mine = [];
const notices = [];
const stageMessage = async ({ message, inputFiles: [file], files }) => {
  if (how === "hang") {
    console.log("in hook");
    await new Promise((resolve) => {
      setInterval(() => {}, 1000);
      process.once("SIGUSR2", resolve);
    });
  }
  mine.push(message.id);
  const ref = await files.write(`/session/${message.id}.txt`, file.content);
  await new Promise((resolve) => {
    setTimeout(resolve, Math.random() * 4);
  });
  return { stagedFiles: [ref], notice: `${name} staged ${message.id}` };
};
for (let n = 0; n < Number(count); n++) {
  const messages = [0, 1, 2].map((at) => ({
    id: `m${n + at}`,
    role: "user",
    parts: [{ type: "file", mediaType: "text/plain", url: `data:,${n + at}` }],
  }));
  const result = await session.stageMessages(messages, { stageMessage });
  for (const [at, notice] of result.notices.entries()) notices[n + at] = notice;
  await new Promise((resolve) => {
    setTimeout(resolve, Math.random() * 20);
  });
}
await host.close();
console.log(JSON.stringify({ mine, notices }));
