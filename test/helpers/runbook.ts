import { readFile } from "node:fs/promises";

/** The operators' runbook. */
export const runbookText = await readFile(new URL("../../infra/README.md", import.meta.url), "utf8");

/** A block of commands. */
export interface Block {
  /** The heading it is under, of the first or second level. */
  section: string;
  commands: string;
}

/** Reads a runbook's blocks in their order. Whatever is not JSON counts as commands, so that none goes unseen. */
export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let section = "";
  const parts = /^##? (?<heading>[^\n]*)$|^(?<indent> *)```(?<language>\w*)\n(?<body>.*?)^\k<indent>```$/gms;
  for (const { groups: { heading, indent, language, body = "" } = {} } of markdown.matchAll(parts)) {
    if (heading !== undefined) section = heading;
    else if (language !== "json") blocks.push({ section, commands: body.replaceAll(`\n${indent}`, "\n").trim() });
  }
  return blocks;
}

/** The commands of its blocks, each on a line of its own. */
export const commands = readBlocks(runbookText)
  .map((block) => `${block.commands}\n`)
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
  if (values.length === 0) throw new Error(`No command has ${pattern}`);
  return values;
}
