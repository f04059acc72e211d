import { figureText, type Row } from "./row.ts";

/** Of what was measured beside several others: a bar each, ours first. */
interface Group {
  what: string;
  bars: Bar[];
}

interface Bar {
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
/** The room right of the longest bar, for its figure. */
const figureWidth = 90;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; }
  .what { font-weight: 600; }
  .ours { fill: #0969da; }
  .other { fill: #afb8c1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; }
    .ours { fill: #4493f8; }
    .other { fill: #57606a; }
  }`;

/**
 * An SVG chart of the rows of which one figure stands beside several: ours beside the SDK and the
 * least work. Each group has a scale of its own.
 */
export function chart(rows: Row[]): string {
  const groups = groupsOf(rows);
  const parts: string[] = [];
  let y = margin;
  for (const { what, bars } of groups) {
    parts.push(text(margin, y + 20, what, "what"));
    y += headHeight;
    const longest = Math.max(...bars.map(({ figure }) => figure));
    for (const [index, bar] of bars.entries()) {
      parts.push(drawBar(bar, y, (bar.figure / longest) * (width - barsFrom - figureWidth), index));
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
  const groups = Object.entries(Object.groupBy(rows, ({ what }) => what)).map(
    ([what, besides = []]): Group => ({ what, bars: [...oursOf(besides), ...floorsOf(besides)] }),
  );
  // Ours and at least two others.
  return groups.filter(({ bars }) => bars.length > 2);
}

function oursOf([row]: Row[]): Bar[] {
  if (row?.figures === undefined) return [];
  const { ours } = row.figures;
  return [{ name: "ours", figure: ours, text: figureText(ours, row.figures) }];
}

function floorsOf(rows: Row[]): Bar[] {
  return rows.flatMap(({ beside = "", figures }) => {
    if (figures?.floor === undefined) return [];
    return [{ name: beside, figure: figures.floor, text: figureText(figures.floor, figures) }];
  });
}

function drawBar(bar: Bar, y: number, length: number, index: number): string {
  const kind = index === 0 ? "ours" : "other";
  return [
    text(margin, y + 14, bar.name),
    `<rect class="${kind}" x="${barsFrom}" y="${y + 2}" ` +
      `width="${length.toFixed(1)}" height="${barHeight - 4}" rx="2"/>`,
    text(barsFrom + length + 8, y + 14, bar.text),
  ].join("\n");
}

function text(x: number, y: number, content: string, kind = ""): string {
  return `<text x="${x.toFixed(0)}" y="${y}" class="${kind}">${content}</text>`;
}
