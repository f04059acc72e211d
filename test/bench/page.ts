import { readFileSync, writeFileSync } from "node:fs";

const page = new URL("README.md", import.meta.url);

/** A Markdown table; the first row is its head. */
export function markdown([head = [], ...rows]: string[][]) {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Puts tables into the README, each in the place of the one with the same head. */
export function writeTables(tables: string[][][]) {
  let text = readFileSync(page, "utf8");
  for (const table of tables) {
    const lines = markdown(table);
    const [head = ""] = lines.split("\n");
    const place = new RegExp(`^${RegExp.escape(head)}\n.*?(?=\n\n)`, "ms");
    if (!place.test(text))
      throw new Error(`README.md has no table with the head ${head}`);
    text = text.replace(place, () => lines);
  }
  writeFileSync(page, text);
}
