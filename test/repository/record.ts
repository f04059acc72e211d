// Records the picture in the README, a start of the service and two cancellations: `node test/repository/record.ts`.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { withoutKeys } from "../../shared/api-keys.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [columns, rows] = [103, 26];
const [lineHeight, margin, width] = [19, 20, 850];

/** Lines that appear together, so many seconds after those before them. */
interface Frame {
  after: number;
  text: string;
}

const service = spawn("npm", ["start"], { cwd: root, stdio: ["ignore", "pipe", "inherit"], detached: true });
let printed = "";
service.stdout.setEncoding("utf8").on("data", (chunk) => {
  printed += chunk;
});
const begun = performance.now();
while (!printed.endsWith("\n\n") || !printed.includes("is ready")) await once(service.stdout, "data");
const seconds = (performance.now() - begun) / 1000;
const [, cancel = ""] = /^Cancel a pending order.*\n +(.*)$/m.exec(printed) ?? [];
const run = (): string => execFileSync("sh", ["-c", cancel], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
try {
  const frames: Frame[] = [
    { after: 0, text: "$ npm start" },
    { after: seconds, text: printed.trimEnd() },
    { after: 4, text: `\n$ ${cancel}` },
    { after: 0.5, text: run().trimEnd() },
    { after: 3, text: `\n$ ${cancel}` },
    { after: 0.5, text: run().trimEnd() },
  ];
  writeFileSync(new URL("start.svg", import.meta.url), drawing(frames));
} finally {
  if (service.pid !== undefined) process.kill(-service.pid);
}

/** A terminal that plays the frames over and over; where nothing moves, it shows how they end. */
function drawing(shown: Frame[]): string {
  const total = shown.reduce((sum, { after }) => sum + after, 0) + 8;
  const height = rows * lineHeight + 2 * margin;
  const loop = `${total.toFixed(1)}s step-end infinite`;
  let [row, time, top] = [0, 0, 0];
  let [texts, appear, scroll] = ["", "", ""];
  for (const [index, { after, text }] of shown.entries()) {
    const kind = /^\s*\$ /.test(text) ? "command" : "printed";
    for (const line of withoutKeys(text)
      .split(/\r?\n/)
      .flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, "g")) ?? [""])) {
      row++;
      const place = `x="${margin}" y="${row * lineHeight + margin}"`;
      texts += `<text class="f${index} ${kind}" ${place}>${escaped(line)}</text>\n`;
    }
    time += after;
    top = Math.max(0, row - rows) * lineHeight;
    const percent = `${((100 * time) / total).toFixed(1)}%`;
    appear += `.f${index}{animation:f${index} ${loop}}@keyframes f${index}{0%{opacity:0}${percent}{opacity:1}}\n`;
    scroll += `${percent}{transform:translateY(-${top}px)}`;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>npm start prints an API key and commands to paste; cancelling an order gets 204, then 409</title>
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;fill:#c9d1d9;white-space:pre}
text.command{fill:#7ee787}
.scroll{transform:translateY(-${top}px)}
@media (prefers-reduced-motion:no-preference){
${appear}.scroll{animation:scroll ${loop}}@keyframes scroll{0%{transform:none}${scroll}}
}
</style>
<clipPath id="screen"><rect y="${margin / 2}" width="${width}" height="${height - margin}"/></clipPath>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g clip-path="url(#screen)"><g class="scroll">
${texts}</g></g></svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
