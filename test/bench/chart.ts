import { figureText, type Row } from "./row.ts";

// All in pixels.
const width = 760;
const margin = 16;
const lineHeight = 22;
/** Where bars begin, right of their names. */
const barsFrom = 204;
const longestBar = 450;

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

/** The measurements that stand beside several others, which the chart shows. */
export function charted(rows: Row[]) {
  const groups = [...Map.groupBy(rows, ({ name }) => name).values()];
  return groups.filter(({ length }) => length > 1);
}

/** An SVG chart of measurements, each with its own scale. */
export function chart(rows: Row[]) {
  const lines = charted(rows).flatMap(group);
  const height = 2 * margin + lineHeight * lines.length;
  const size = `width="${width}" height="${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${size}>`,
    "<title>Ours beside the SDK and the least work</title>",
    `<style>${style}\n</style>`,
    `<rect class="page" ${size} rx="6"/>`,
    ...lines.map((line, index) => {
      const y = margin + lineHeight * index;
      return `<g transform="translate(${margin} ${y})">${line}</g>`;
    }),
    "</svg>\n",
  ].join("\n");
}

function group(rows: Row[]) {
  const ours = rows
    .slice(0, 1)
    .map((row) => ({ ...row, beside: "ours", floor: row.ours }));
  const bars = [...ours, ...rows];
  const longest = Math.max(...bars.map(({ floor = 0 }) => floor));
  const lines = bars.map((bar) => {
    const { beside, floor = 0 } = bar;
    const length = Math.round((longestBar * floor) / longest);
    const color = beside === "ours" ? beside : "other";
    return (
      `<text y="16">${beside}</text>` +
      `<rect class="${color}" x="${barsFrom}" y="4" width="${length}" height="16" rx="2"/>` +
      `<text x="${barsFrom + length + 8}" y="16">${figureText(floor, bar)}</text>`
    );
  });
  return [`<text class="title" y="16">${rows[0]?.name}</text>`, ...lines];
}
