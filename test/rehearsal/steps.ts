import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";

const stepSchema = z.union([
  z.strictObject({
    run: z.string(),
    check: z.string(),
    values: z.record(z.string(), z.string()).optional(),
  }),
  // The AWS command line checks these commands, and sends nothing.
  z.strictObject({ parse: z.string(), because: z.string() }),
  z.strictObject({ skip: z.string(), because: z.string() }),
  z.strictObject({ meanwhile: z.string(), commands: z.string() }),
]);

/**
 * A step of the rehearsal: it runs, parses or skips the block of the runbook that begins with this
 * text, or does something between two blocks.
 */
export type Step = z.infer<typeof stepSchema>;

const read = (file: string) => readFile(new URL(file, import.meta.url), "utf8");

/** The operators' runbook. */
export const runbook = [
  await read("../../infra/README.md"),
  await read("../../infra/ON-AWS.md"),
  await read("../../infra/MAKE-IT-YOURS.md"),
  await read("../../infra/PIPELINE.md"),
  await read("../../infra/ON-CALL.md"),
].join("\n");

/** The service's life by the sections of the runbook. */
export const life = z.record(z.string(), z.array(stepSchema)).parse(parse(await read("life.yaml")));

/**
 * Gives each step its commands in a runbook, with values in the place of what an operator replaces.
 *
 * @param sections the steps by the runbook's sections.
 * @throws Error that lists the blocks no step names, and the steps whose block or placeholder is
 * not where they say.
 */
export function findCommands(
  markdown: string,
  sections: Record<string, Step[]>,
): Map<Step, string> {
  const blocks = readBlocks(markdown);
  const found = new Map<Step, Block>();
  const wrong = Object.entries(sections).flatMap(([section, steps]) =>
    findBlocks(section, steps, blocks, found),
  );
  const unknown = new Set(blocks).difference(new Set(found.values()));
  for (const { section, commands } of unknown)
    wrong.push(`${section}: neither run nor listed: ${commands}`);
  if (wrong.length > 0)
    throw new Error(`The rehearsal does not know this runbook:\n${wrong.join("\n")}`);
  return new Map(
    [...found].map(([step, { commands }]) => [
      step,
      fillIn(commands, "run" in step ? step.values : {}),
    ]),
  );
}

/** A block of commands. */
interface Block {
  /** The heading it stands under. */
  section: string;
  commands: string;
}

/**
 * Finds the blocks of a section's steps. They stand in the order of the steps, which may share one.
 *
 * @param found gets each step's block.
 * @returns a line for each step whose block is not there.
 */
function findBlocks(
  section: string,
  steps: Step[],
  blocks: Block[],
  found: Map<Step, Block>,
): string[] {
  const candidates = blocks.filter((block) => block.section === section);
  const missing: string[] = [];
  let last = 0;
  for (const step of steps) {
    const beginning = beginningOf(step);
    if (beginning === undefined) continue;
    const position = candidates.findIndex(
      ({ commands }, index) => index >= last && commands.startsWith(beginning),
    );
    const block = candidates[position];
    if (block === undefined) {
      missing.push(`${section}: no block begins with \`${beginning}\` there`);
      continue;
    }
    found.set(step, block);
    last = position;
  }
  return missing;
}

/** How the block of a step begins; undefined for a step between two blocks. */
function beginningOf(step: Step): string | undefined {
  if ("run" in step) return step.run;
  if ("parse" in step) return step.parse;
  return "skip" in step ? step.skip : undefined;
}

/** The blocks of a runbook. All that are not JSON count as commands, so that none goes unseen. */
function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let section = "";
  const headingsAndBlocks =
    /^##? (?<heading>[^\n]*)$|^(?<indent> *)```(?<language>\w*)\n(?<body>.*?)^\k<indent>```$/gms;
  for (const { groups = {} } of markdown.matchAll(headingsAndBlocks)) {
    const { heading, indent, language, body = "" } = groups;
    if (heading !== undefined) section = heading;
    else if (language !== "json")
      blocks.push({ section, commands: body.replaceAll(`\n${indent}`, "\n").trim() });
  }
  return blocks;
}

function fillIn(commands: string, values: Record<string, string> = {}): string {
  let filled = commands;
  for (const [placeholder, value] of Object.entries(values)) {
    const pattern = new RegExp(`(?<![\\w$])${RegExp.escape(placeholder)}(?!\\w)`, "g");
    if (!pattern.test(filled))
      throw new Error(`These commands have no ${placeholder}: ${commands}`);
    filled = filled.replaceAll(pattern, () => value);
  }
  return filled;
}
