/** A Markdown table; the first row is its head. */
export function markdown([head = [], ...rows]: string[][]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
