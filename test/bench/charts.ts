import { type BarSeriesOption, type EChartsOption, init } from "echarts";

/** Each colour on a light page and on a dark one. */
const colours = {
  paper: ["#ffffff", "#0d1117"],
  ink: ["#1f2328", "#f0f6fc"],
  muted: ["#59636e", "#9198a1"],
  rule: ["#d1d9e0", "#3d444d"],
  blue: ["#0969da", "#4493f8"],
  green: ["#1a7f37", "#3fb950"],
  grey: ["#a8b1bb", "#6e7681"],
} as const;
const font = "system-ui, sans-serif";
const light = (name: keyof typeof colours): string => colours[name][0];

const axis = {
  nameLocation: "middle" as const,
  nameGap: 28,
  nameTextStyle: { color: light("muted") },
  axisLabel: { color: light("muted"), lineHeight: 15 },
  axisLine: { show: true, lineStyle: { color: light("rule") } },
  axisTick: { show: false },
  splitLine: { lineStyle: { color: light("rule") } },
};
const legend = { icon: "roundRect", itemGap: 24, itemWidth: 14, itemHeight: 9, textStyle: { color: light("ink") } };
/** Text that stays legible where a line crosses it. */
const label = { show: true, color: light("ink"), textBorderColor: light("paper"), textBorderWidth: 3 };

/** The bench's cold starts, each beside its floor; undefined where none was measured. */
export function coldStartChart(bench: string[][]): string | undefined {
  const rows = bench
    .slice(1)
    .filter(([what = "", , floor]) => floor !== "" && /^cold start|nothing running$/.test(what));
  if (rows.length === 0) return undefined;
  const measured = [bench[0] ?? [], ...rows];
  const bars = (name: string, color: string, column: string): BarSeriesOption => ({
    type: "bar",
    name,
    color,
    barMaxWidth: 14,
    barGap: "10%",
    data: cells(measured, column).map((text) => ({ value: quantity(text), label: { formatter: text } })),
    label: { ...label, position: "right" },
  });
  const names = cells(measured, "what").map((what) => what.replace(", ", "\n"));
  return draw("Cold starts beside the least that could do the same", 110 + 46 * rows.length, {
    legend: { ...legend, left: 188, top: 40 },
    grid: { left: 190, right: 70, top: 68, bottom: 46 },
    xAxis: { ...axis, type: "value", name: "milliseconds" },
    yAxis: { ...axis, type: "category", inverse: true, data: names },
    series: [bars("this service", light("blue"), "ours"), bars("floor", light("grey"), "floor")],
  });
}

function cells([head = [], ...rows]: string[][], column: string): string[] {
  const index = head.indexOf(column);
  if (index === -1) throw new Error(`The table has no column "${column}"`);
  return rows.map((row) => row[index] ?? "");
}

/** The number in a text like `$1,234.50` or `12.3 ms`, NaN in one without. */
function quantity(text = ""): number {
  return Number.parseFloat(text.replaceAll(/[^\d.]/g, ""));
}

function draw(title: string, height: number, option: EChartsOption): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, width: 800, height });
  chart.setOption({
    ...option,
    title: { text: title, left: 10, top: 8, textStyle: { color: light("ink"), fontSize: 16 } },
    textStyle: { fontFamily: font },
    animation: false,
    backgroundColor: light("paper"),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return asPicture(svg, title);
}

/** Without what reacts to a pointer, and without names that count up from chart to chart. */
function asPicture(svg: string, title: string): string {
  const dark = Object.values(colours).map(
    ([day, night]) => `[fill="${day}"]{fill:${night}}[stroke="${day}"]{stroke:${night}}`,
  );
  const style = `text{font:12px ${font}}@media(prefers-color-scheme:dark){${dark.join("")}}`;
  return svg
    .replaceAll(/ (?:class|pointer-events|ecmeta_\w+)="[^"]*"|\bzr\d+-/g, "")
    .replaceAll(/<path [^>]*(?:fill="none"|fill-opacity="0"[^>]*)><\/path>\n/g, "")
    .replaceAll(/ style="font-size:12px;[^"]*"| xml:space="preserve"/g, "")
    .replace(/^<svg .*>/, `$&\n<title>${title}</title>`)
    .replace(/<style.*<\/style>/s, `<style>${style}</style>`);
}
