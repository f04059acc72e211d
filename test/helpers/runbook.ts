import { readFile } from "node:fs/promises";
import { expect } from "vitest";

/** The operators' runbook. */
export const runbookText = await readFile(new URL("../../infra/README.md", import.meta.url), "utf8");

/** The commands of its shell blocks, each on a line of its own. */
export const commands = [...runbookText.matchAll(/```sh\n(.*?)```/gs)]
  .map(([, block = ""]) => block)
  .join("")
  .replaceAll("\\\n", "");

/** The text under a second-level heading. */
export function section(heading: string): string {
  const found = runbookText.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (found === undefined) throw new Error(`No section "${heading}"`);
  return found;
}

/** Every value that the commands give for a pattern's group; at least one. */
export function valuesOf(pattern: RegExp): string[] {
  const values = [...commands.matchAll(pattern)].map(([, value = ""]) => value);
  expect(values).not.toHaveLength(0);
  return values;
}
