import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";

const text = z.string();
const stepSchema = z.union([
  z.strictObject({ run: text, check: text, values: z.record(text, text).default({}) }),
  // The AWS command line checks these commands, and sends nothing.
  z.strictObject({ parse: text, because: text }),
  z.strictObject({ skip: text, because: text }),
  z.strictObject({ meanwhile: text, commands: text }),
]);

/**
 * A step of the rehearsal: it runs, parses or skips the block of the runbook that begins with this
 * text, or does something between two blocks.
 */
export type Step = z.infer<typeof stepSchema>;

const read = (file: string) => readFile(new URL(file, import.meta.url), "utf8");

const pages = ["README", "ON-AWS", "MAKE-IT-YOURS", "PIPELINE", "ON-CALL"].map((page) =>
  read(`../../infra/${page}.md`),
);

export const runbook = (await Promise.all(pages)).join("\n");

/** Steps by the sections of the runbook. */
export const life = z
  .record(text, z.array(stepSchema))
  .parse(parse(await read("life.yaml")));

/**
 * Gives each step its commands in a runbook, and throws with the blocks that no step names and the
 * steps whose block is not where they say.
 */
export function findCommands(
  markdown: string,
  sections: Record<string, Step[]>,
): Map<Step, string> {
  const blocks = readBlocks(markdown);
  const unknown = new Set(blocks);
  const found = new Map<Step, string>();
  const wrong: string[] = [];
  for (const [section, steps] of Object.entries(sections)) {
    // They stand in the order of the steps, which may share one.
    let candidates = blocks.filter((block) => block.section === section);
    for (const step of steps) {
      const beginning = beginningOf(step);
      if (beginning === undefined) continue;
      const block = candidates.find(({ commands }) => commands.startsWith(beginning));
      if (block === undefined) {
        wrong.push(`${section}: no block begins with \`${beginning}\` there`);
        continue;
      }
      candidates = candidates.slice(candidates.indexOf(block));
      unknown.delete(block);
      found.set(step, fillIn(block.commands, step));
    }
  }
  for (const { section, commands } of unknown)
    wrong.push(`${section}: neither run nor listed: ${commands}`);
  if (wrong.length > 0)
    throw new Error(`The rehearsal does not know this runbook:\n${wrong.join("\n")}`);
  return found;
}

/** How a step's block begins; undefined when it has none. */
function beginningOf(step: Step) {
  if ("run" in step) return step.run;
  if ("parse" in step) return step.parse;
  return "skip" in step ? step.skip : undefined;
}

interface Block {
  /** The heading it stands under. */
  section: string;
  commands: string;
}

/** The blocks of a runbook. All but JSON and TypeScript count as commands, so that none goes unseen. */
function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let section = "";
  const headingsAndBlocks =
    /^##? (?<heading>[^\n]*)$|^(?<indent> *)```(?<language>\w*)\n(?<body>.*?)^\k<indent>```$/gms;
  for (const { groups = {} } of markdown.matchAll(headingsAndBlocks)) {
    const { heading, indent, language, body = "" } = groups;
    if (heading !== undefined) section = heading;
    else if (language !== "json" && language !== "ts")
      blocks.push({ section, commands: body.replaceAll(`\n${indent}`, "\n").trim() });
  }
  return blocks;
}

/** Puts a step's values in the place of what an operator replaces. */
function fillIn(commands: string, step: Step) {
  const values = "run" in step ? step.values : {};
  return Object.entries(values).reduce((filled, [placeholder, value]) => {
    const pattern = new RegExp(`(?<![\\w$])${RegExp.escape(placeholder)}(?!\\w)`, "g");
    if (filled.search(pattern) === -1)
      throw new Error(`These commands have no ${placeholder}: ${commands}`);
    return filled.replaceAll(pattern, () => value);
  }, commands);
}
