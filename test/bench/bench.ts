import { writeFile } from "node:fs/promises";
import { cpus, release, type } from "node:os";
import { Argument } from "commander";
import { Script } from "../../infra/tools/terminal/script.ts";
import { chart, charted } from "./chart.ts";
import { coldStarts } from "./cold-start.ts";
import { growth } from "./growth.ts";
import { lists } from "./list.ts";
import { operators } from "./operators.ts";
import { markdown, writeTables } from "./page.ts";
import { hasGoal, type Measured, misses, rowsOf, table, unexplained } from "./row.ts";
import { prepare, type Subject } from "./subject.ts";
import { warmCancel } from "./warm-cancel.ts";

const parts: Record<string, (subject: Subject) => Promise<Measured[]>> = {
  cold: coldStarts,
  cancel: warmCancel,
  list: lists,
  growth,
  operators,
};

const program = new Script("npm run bench --")
  .description(
    "Measures the service beside the least work that could do the same. " +
      "Exits with 1 when the median of the runs misses a goal.",
  )
  .addArgument(
    new Argument("[part...]", "measure only these").choices(Object.keys(parts)),
  )
  .option("--runs <number>", "how often each is measured", Number, 3)
  .option("--write", "put the figures into test/bench/README.md, and draw its chart")
  .parse();
const { runs, write } = program.opts<{ runs: number; write?: true }>();
if (!(runs >= 1)) program.error("error: --runs must be at least 1");
if (write && program.args.length > 0) program.error("error: --write needs all parts");

async function measureAll() {
  const all: Measured[][] = [];
  for (let run = 1; run <= runs; run += 1) {
    await using cleanup = new AsyncDisposableStack();
    const subject = await prepare(cleanup);
    const measured: Measured[] = [];
    for (const [name, part] of Object.entries(parts)) {
      if (program.args.length > 0 && !program.args.includes(name)) continue;
      process.stderr.write(`run ${run} of ${runs}: ${name} ...\n`);
      measured.push(...(await part(subject)));
    }
    all.push(measured);
  }
  return all;
}

const rows = rowsOf(await measureAll());
const processors = `${cpus().length} x ${cpus()[0]?.model.trim()}`;
console.log(`${processors}, ${type()} ${release()}, Node ${process.versions.node}\n`);
console.log(markdown(table(rows)));
if (rows.some(misses)) process.exitCode = 1;
const missing = unexplained(rows);
if (missing.length > 0)
  console.error(`Missed without a reason in goals.ts: ${missing.join("; ")}`);
else if (write) {
  const inChart = charted(rows).flat();
  writeTables([table(rows.filter((row) => hasGoal(row) || !inChart.includes(row)))]);
  await writeFile(new URL("chart.svg", import.meta.url), chart(rows));
}
