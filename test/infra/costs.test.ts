import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { costTables } from "../bench/cost-tables.ts";
import { ends } from "../bench/growing.ts";
import { markdown } from "../bench/markdown.ts";
import { price } from "../bench/prices.ts";
import { templates } from "../helpers/synthesise.ts";

test("the prices are those that AWS quotes for us-east-1, in its own units", () => {
  const million = 1e6;
  expect({
    "API Gateway, a million REST requests": round(price.restRequest * million),
    "API Gateway, a million HTTP requests": round(price.httpRequest * million),
    "Lambda, a million requests": round(price.lambdaRequest * million),
    "Lambda, a GB-second on arm64": price.gigabyteSecond,
    "Lambda, a GB streamed beyond 6 MB": price.streamedGigabyte,
    "DynamoDB on demand, a million write units": round(price.writeUnit * million),
    "DynamoDB on demand, a million read units": round(price.readUnit * million),
    "DynamoDB, a GB-month": price.storedGigabyte,
    "DynamoDB, a GB-month of point-in-time recovery": price.recoverableGigabyte,
    "CloudWatch, a GB of logs": price.logGigabyte,
    "CloudWatch, a metric of an alarm for a month": price.alarmMetric,
    "CloudWatch, a custom metric for a month": price.customMetric,
    "EC2, a GB sent to the internet": price.sentGigabyte,
    "Fargate on arm64, a vCPU-hour": price.vcpuHour,
    "Fargate on arm64, a GB-hour": price.memoryGigabyteHour,
    "an Application Load Balancer's hour": price.balancerHour,
  }).toEqual({
    "API Gateway, a million REST requests": 3.5,
    "API Gateway, a million HTTP requests": 1,
    "Lambda, a million requests": 0.2,
    "Lambda, a GB-second on arm64": 0.0000133334,
    "Lambda, a GB streamed beyond 6 MB": 0.008,
    "DynamoDB on demand, a million write units": 0.625,
    "DynamoDB on demand, a million read units": 0.125,
    "DynamoDB, a GB-month": 0.25,
    "DynamoDB, a GB-month of point-in-time recovery": 0.2,
    "CloudWatch, a GB of logs": 0.5,
    "CloudWatch, a metric of an alarm for a month": 0.1,
    "CloudWatch, a custom metric for a month": 0.3,
    "EC2, a GB sent to the internet": 0.09,
    "Fargate on arm64, a vCPU-hour": 0.03238,
    "Fargate on arm64, a GB-hour": 0.00356,
    "an Application Load Balancer's hour": 0.0225,
  });
});

describe("the costs in test/bench/README.md are what npm run costs prints:", async () => {
  const readme = await readFile(new URL("../bench/README.md", import.meta.url), "utf8");
  const production = templates.find(([name]) => name === "production")?.[1];
  if (production === undefined) throw new Error("There is no production");

  test.each(Object.entries(costTables(production)))("%s", (_, table) => {
    const lines = markdown(table).split("\n");
    const begin = readme.indexOf(`${lines[0]}\n`);
    expect(readme.slice(begin).split("\n").slice(0, lines.length)).toEqual(lines);
  });

  test("where the design ends", () => {
    expect(readme.replaceAll("\n", " ")).toContain(ends().replaceAll("\n", " "));
  });
});

function round(value: number): number {
  return Number(value.toPrecision(12));
}
