import type { Block } from "../helpers/runbook.ts";

/** The rehearsal's step for a block of the runbook, named by how the block begins, or for the time between two blocks. */
export type Step =
  | { run: string; check: string; values?: Record<string, string> }
  // The AWS command line checks these, and sends nothing.
  | { parse: string; because: string }
  | { skip: string; because: string }
  | { meanwhile: string; commands: string };

/**
 * Gives each step its commands, with values in the place of what an operator replaces.
 *
 * @param life the steps by the runbook's sections.
 * @throws Error that lists the blocks no step names, and the steps whose block or placeholder is not where they say.
 */
export function findCommands(blocks: Block[], life: Record<string, Step[]>): Map<Step, string> {
  const found = new Map<Step, string>();
  const unknown = new Set(blocks);
  const wrong: string[] = [];
  let last = 0;
  for (const [section, steps] of Object.entries(life)) {
    for (const step of steps) {
      if ("meanwhile" in step) continue;
      const begins = "run" in step ? step.run : "parse" in step ? step.parse : step.skip;
      const isIt = (block: Block): boolean => block.section === section && block.commands.startsWith(begins);
      const at = blocks.findIndex((block, index) => index >= last && isIt(block));
      const block = blocks[at];
      if (block) {
        found.set(step, fillIn(block.commands, "run" in step ? step.values : {}));
        unknown.delete(block);
        last = at;
      } else wrong.push(`${section}: no block begins with \`${begins}\` there`);
    }
  }
  for (const { section, commands } of unknown) wrong.push(`${section}: neither run nor listed: ${commands}`);
  if (wrong.length > 0) throw new Error(`The rehearsal does not know this runbook:\n${wrong.join("\n")}`);
  return found;
}

function fillIn(commands: string, values: Record<string, string> = {}): string {
  return Object.entries(values).reduce((filled, [placeholder, value]) => {
    const pattern = new RegExp(`(?<![\\w$])${RegExp.escape(placeholder)}(?!\\w)`, "g");
    if (!pattern.test(filled)) throw new Error(`These commands have no ${placeholder}: ${commands}`);
    return filled.replaceAll(pattern, () => value);
  }, commands);
}
