import { figureText, type Row } from "./row.ts";

/** The bars of one measurement, ours first. */
interface Group {
  title: string;
  bars: Bar[];
}

interface Bar {
  kind: "ours" | "other";
  name: string;
  figure: number;
  text: string;
}

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
 * least work. Each group has a scale of its own.
 */
export function chart(rows: Row[]): string {
  const parts: string[] = [];
  let y = margin;
  for (const { title, bars } of groupsOf(rows)) {
    parts.push(text(margin, y + 20, title, "title"));
    y += headHeight;
    const largest = Math.max(...bars.map(({ figure }) => figure));
    for (const bar of bars) {
      const length = (bar.figure / largest) * longestBar;
      parts.push(drawBar(bar, y, length));
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

function groupsOf(rows: Row[]): Group[] {
  const rowsByName = Map.groupBy(rows, ({ name }) => name);
  const groups = Array.from(rowsByName, ([title, group]) => ({ title, bars: barsOf(group) }));
  // Ours and at least two others.
  return groups.filter(({ bars }) => bars.length > 2);
}

/** A bar for our figure, which the rows share, and one for each figure beside it. */
function barsOf(rows: Row[]): Bar[] {
  const bars: Bar[] = [];
  for (const { beside, figures } of rows) {
    if (beside === undefined || figures?.floor === undefined) continue;
    const { ours, floor } = figures;
    if (bars.length === 0)
      bars.push({ kind: "ours", name: "ours", figure: ours, text: figureText(ours, figures) });
    bars.push({ kind: "other", name: beside, figure: floor, text: figureText(floor, figures) });
  }
  return bars;
}

function drawBar(bar: Bar, y: number, length: number): string {
  return [
    text(margin, y + 14, bar.name),
    `<rect class="${bar.kind}" x="${barsFrom}" y="${y + 2}" ` +
      `width="${length.toFixed(1)}" height="${barHeight - 4}" rx="2"/>`,
    text(barsFrom + length + 8, y + 14, bar.text),
  ].join("\n");
}

function text(x: number, y: number, content: string, className = ""): string {
  return `<text x="${x.toFixed(0)}" y="${y}" class="${className}">${content}</text>`;
}
