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
    const [first] = group;
    if (first === undefined || group.length < 2) continue;
    parts.push(text(margin, y + 20, title, "title"));
    y += headHeight;
    const others = group.map(({ beside = "", floor = 0 }) => ({
      name: beside,
      figure: floor,
    }));
    // The rows share our figure.
    const bars = [{ name: "ours", figure: first.ours }, ...others];
    const longest = Math.max(...bars.map(({ figure }) => figure));
    for (const { name, figure } of bars) {
      const length = (figure / longest) * longestBar;
      parts.push(
        text(margin, y + 14, name),
        `<rect class="${name === "ours" ? name : "other"}" x="${barsFrom}" y="${y + 2}" ` +
          `width="${length.toFixed(1)}" height="${barHeight - 4}" rx="2"/>`,
        text(barsFrom + length + 8, y + 14, figureText(figure, first)),
      );
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

function text(x: number, y: number, content: string, className = ""): string {
  return `<text x="${x.toFixed(0)}" y="${y}" class="${className}">${content}</text>`;
}
