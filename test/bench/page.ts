import { readFileSync, writeFileSync } from "node:fs";

const page = new URL("README.md", import.meta.url);

/** A Markdown table; the first row is its head. */
export function markdown([head = [], ...rows]: string[][]): string {
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/**
 * Puts tables into the README, each in the place of the one with the same head.
 *
 * @throws Error naming a head that the README does not have; then it stays as it was.
 */
export function writeTables(tables: string[][][]): void {
  let text = readFileSync(page, "utf8");
  for (const table of tables) {
    const lines = markdown(table);
    const head = lines.slice(0, lines.indexOf("\n"));
    const start = text.indexOf(`${head}\n`);
    if (start === -1) throw new Error(`README.md has no table with the head ${head}`);
    const end = text.indexOf("\n\n", start);
    text = text.slice(0, start) + lines + text.slice(end);
  }
  writeFileSync(page, text);
}
