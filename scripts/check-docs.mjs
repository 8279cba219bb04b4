// What the pages say must be so: links lead somewhere, the README's example is the one that runs, the lock file names no server.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./steps.mjs";

const read = (file) => readFileSync(join(root, file), "utf8");
const pages = [
  ...readdirSync(root),
  ...["bench", "docs", "npm"].flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)),
].filter((name) => name.endsWith(".md"));

const faults = pages.flatMap(deadLinks);
if (!read("README.md").includes(`\`\`\`js\n${read("examples/quick-start.mjs")}\`\`\``)) {
  faults.push("README.md: its first example is not examples/quick-start.mjs");
}
if (read("package-lock.json").includes('"resolved"')) faults.push("package-lock.json names a server; see .npmrc");

console.log(faults.length === 0 ? `${pages.length} pages: links and examples hold.` : faults.join("\n"));
process.exitCode = faults.length === 0 ? 0 : 1;

function deadLinks(page) {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link);
  return links
    .filter((link) => !existsSync(join(root, dirname(page), link)))
    .map((link) => `${page}: ${link} does not exist`);
}
