import { figureText, type Row } from "./row.ts";

// All in pixels.
const width = 760;
const margin = 16;
const headHeight = 34;
const barHeight = 20;
/** Where bars begin, right of their names. */
const barsFrom = 220;
/** The space to the right of the longest bar, for its figure. */
const figureWidth = 90;
const longestBar = width - barsFrom - figureWidth;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; }
  .title { font-weight: 600; }
  .ours { fill: #0969da; }
  .other { fill: #afb8c1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; }
    .ours { fill: #4493f8; }
    .other { fill: #57606a; }
  }`;

/**
 * An SVG chart of the measurements that stand beside several others: ours beside the SDK and the
 * least work. Each has a scale of its own.
 */
export function chart(rows: Row[]): string {
  const parts: string[] = [];
  let y = margin;
  for (const [title, group] of Map.groupBy(rows, ({ name }) => name)) {
    if (group.length < 2) continue;
    parts.push(text(margin, y + 20, title, "title"));
    y += headHeight;
    for (const bar of barsOf(group)) {
      parts.push(...drawBar(bar, y));
      y += barHeight;
    }
  }
  const height = y + margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
      `width="${width}" height="${height}">`,
    "<title>Ours beside the SDK and the least work</title>",
    `<style>${style}\n</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="6"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

interface Bar {
  kind: "ours" | "other";
  name: string;
  text: string;
  length: number;
}

/** A bar for our figure, which the rows share, and one for each figure beside it. */
function barsOf(rows: Row[]): Bar[] {
  const longest = Math.max(...rows.map(({ ours, floor = 0 }) => Math.max(ours, floor)));
  const barOf = (kind: Bar["kind"], name: string, figure: number, row: Row): Bar => {
    const length = (figure / longest) * longestBar;
    return { kind, name, text: figureText(figure, row), length };
  };
  const ours = rows.slice(0, 1).map((row) => barOf("ours", "ours", row.ours, row));
  const others = rows.map((row) => barOf("other", row.beside ?? "", row.floor ?? 0, row));
  return [...ours, ...others];
}

function drawBar(bar: Bar, y: number): string[] {
  return [
    text(margin, y + 14, bar.name),
    `<rect class="${bar.kind}" x="${barsFrom}" y="${y + 2}" ` +
      `width="${bar.length.toFixed(1)}" height="${barHeight - 4}" rx="2"/>`,
    text(barsFrom + bar.length + 8, y + 14, bar.text),
  ];
}

function text(x: number, y: number, content: string, className = ""): string {
  return `<text x="${x.toFixed(0)}" y="${y}" class="${className}">${content}</text>`;
}
