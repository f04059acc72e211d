import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";

const stepSchema = z.union([
  z.strictObject({
    run: z.string(),
    check: z.string(),
    values: z.record(z.string(), z.string()).optional(),
  }),
  // The AWS command line checks these, and sends nothing.
  z.strictObject({ parse: z.string(), because: z.string() }),
  z.strictObject({ skip: z.string(), because: z.string() }),
  z.strictObject({ meanwhile: z.string(), commands: z.string() }),
]);

/**
 * The rehearsal's step for a block of the runbook, named by how the block begins, or for the time
 * between two blocks.
 */
export type Step = z.infer<typeof stepSchema>;

const read = (file: string) => readFile(new URL(file, import.meta.url), "utf8");

/** The operators' runbook: what one reads at a desk, and on call. */
export const runbook = `${await read("../../infra/README.md")}\n${await read("../../infra/ON-CALL.md")}`;

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
  const found = new Map<Step, string>();
  const blocks = readBlocks(markdown);
  const unknown = new Set(blocks);
  const wrong: string[] = [];
  for (const [section, steps] of Object.entries(sections)) {
    let last = 0;
    for (const step of steps) {
      if ("meanwhile" in step) continue;
      const begins = "run" in step ? step.run : "parse" in step ? step.parse : step.skip;
      const at = blocks.findIndex(
        (block, index) =>
          index >= last && block.section === section && block.commands.startsWith(begins),
      );
      const block = blocks[at];
      if (block) {
        found.set(step, fillIn(block.commands, "run" in step ? step.values : {}));
        unknown.delete(block);
        last = at;
      } else wrong.push(`${section}: no block begins with \`${begins}\` there`);
    }
  }
  for (const { section, commands } of unknown)
    wrong.push(`${section}: neither run nor listed: ${commands}`);
  if (wrong.length > 0)
    throw new Error(`The rehearsal does not know this runbook:\n${wrong.join("\n")}`);
  return found;
}

/**
 * The blocks of a runbook by their headings. Whatever is not JSON counts as commands, so that none
 * goes unseen.
 */
function readBlocks(markdown: string) {
  const blocks: { section: string; commands: string }[] = [];
  let section = "";
  const parts =
    /^##? (?<heading>[^\n]*)$|^(?<indent> *)```(?<language>\w*)\n(?<body>.*?)^\k<indent>```$/gms;
  for (const { groups: { heading, indent, language, body = "" } = {} } of markdown.matchAll(
    parts,
  )) {
    if (heading !== undefined) section = heading;
    else if (language !== "json")
      blocks.push({ section, commands: body.replaceAll(`\n${indent}`, "\n").trim() });
  }
  return blocks;
}

function fillIn(commands: string, values: Record<string, string> = {}): string {
  return Object.entries(values).reduce((filled, [placeholder, value]) => {
    const pattern = new RegExp(`(?<![\\w$])${RegExp.escape(placeholder)}(?!\\w)`, "g");
    if (!pattern.test(filled))
      throw new Error(`These commands have no ${placeholder}: ${commands}`);
    return filled.replaceAll(pattern, () => value);
  }, commands);
}
