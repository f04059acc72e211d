import { readFileSync } from "node:fs";
import { parseXml } from "@rgrove/parse-xml";
import { describe, expect, test } from "vitest";
import { coldStartChart, costChart, listChart } from "./charts.ts";

const readme = readFileSync(new URL("README.md", import.meta.url), "utf8");

/** The cells of the README's table whose first heading this is. */
function tableOf(heading: string): string[][] {
  const [text = ""] = new RegExp(`^\\| ${heading} \\|.*\\n(?:\\|.*\\n)+`, "m").exec(readme) ?? [];
  const [head = "", , ...rows] = text.trimEnd().split("\n");
  return [head, ...rows].map((line) => line.slice(2, -2).split(" | "));
}

const charts = [
  {
    name: "cold-start",
    draw: () => coldStartChart(tableOf("what")) ?? "",
    texts: ["this service", "floor", "milliseconds", "cold start of ListOrders", "nothing running"],
  },
  {
    name: "list",
    draw: () => listChart(tableOf("orders")),
    texts: [
      "whole list",
      "first byte",
      "peak memory",
      "sent plain",
      "milliseconds",
      "megabytes",
      "10,000",
      "1,000,000",
    ],
  },
  {
    name: "cost",
    draw: () => costChart(tableOf("cancellations a second"), tableOf("orders, listed once a minute")),
    texts: ["dollars an hour", "cancellations a second", "orders, listed once a minute", "10", "10,000,000"],
  },
];

describe.each(charts)("the chart $name", ({ name, draw, texts }) => {
  // After new figures or a new design: npm test -- test/bench/charts -u
  test("shows the figures in the README's tables, whenever it is drawn", async () => {
    await expect(draw()).toMatchFileSnapshot(`charts/${name}.svg`);
    await expect(draw()).toMatchFileSnapshot(`charts/${name}.svg`);
  });

  test("is valid XML that says what it shows, without scripts or anything from elsewhere", () => {
    const { root } = parseXml(draw());
    expect(root?.text.split("\n")).toEqual(expect.arrayContaining(texts));
    expect(draw()).not.toMatch(/<script|\son\w+=|href=|@import|url\((?!#)/);
  });

  test("has a colour for dark pages for every one that it draws with on light ones", () => {
    const [picture = "", style = ""] = draw()
      .replace(/<defs.*<\/defs>/s, "")
      .split("<style>");
    const drawn = new Set([...picture.matchAll(/ ((?:fill|stroke)="(?!none)[^"]*")/g)].map(([, text]) => text));
    expect([...drawn].filter((attribute) => !style.includes(`[${attribute}]`))).toEqual([]);
  });
});

test("cold starts that this machine can't measure leave the chart as it is", () => {
  const head = ["what", "ours", "floor", "ratio", "goal", ""];
  const row = ["cold start of ListOrders", "not measured here: it takes root", "", "", "", "-"];
  expect(coldStartChart([head, row])).toBeUndefined();
});
