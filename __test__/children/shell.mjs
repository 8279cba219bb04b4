// shell.mjs FOLDER NAMES MS: a shell in the sandbox that works on files of a checkout for as long as it is let: it replaces
// each by a new version, whole, and now and then removes it. Says the last version of each; none: removed.
import fs from "node:fs";
import path from "node:path";

const [folder, list, ms] = process.argv.slice(2);
const names = list.split(",");
const end = Date.now() + Number(ms);
const last = {};
let count = 0;
console.log("working");
while (Date.now() < end) {
  const name = names[Math.floor(Math.random() * names.length)];
  const real = path.join(folder, name);
  if (Math.random() < 0.1) {
    fs.rmSync(real, { force: true });
    last[name] = null;
  } else {
    const text = `shell ${name} ${++count} `.repeat(1 + Math.floor(Math.random() * 400)).trimEnd();
    fs.mkdirSync(path.dirname(real), { recursive: true });
    const aside = path.join(folder, "..", `aside-${process.pid}`);
    fs.writeFileSync(aside, text);
    fs.renameSync(aside, real);
    last[name] = text;
  }
  await new Promise((resolve) => {
    setTimeout(resolve, Math.random() * 3);
  });
}
console.log(JSON.stringify({ last, count }));
