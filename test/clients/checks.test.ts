import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checks, failures, summary } from "./checks.ts";
import { toolchains } from "./toolchains.ts";

const right = checks.map(({ step, expected }) => `${step}: ${expected}`);
const failing = (lines: string[]): string[] =>
  failures(lines.join("\n")).map(({ check: { step }, saw }) => `${step}: ${saw}`);

test("a client that prints what it must see, its list in any order, fails no check", () => {
  const [list = "", ...others] = right;
  const turned = list.replace(/^list: .*/, (line) => `list: ${line.slice(6).split(" ").reverse().join(" ")}`);
  expect(failing([turned, ...others])).toEqual([]);
});

test("a client fails each check of which it prints nothing, or something else", () => {
  expect(failing([])).toEqual(checks.map(({ step }) => `${step}: nothing`));
  expect(failing(checks.map(({ step }) => `${step}: 500`))).toEqual(checks.map(({ step }) => `${step}: 500`));
});

test("clients of which none ran, because this machine has no tools for them, prove nothing", () => {
  expect(() => summary([])).toThrow("No client ran");
  expect(
    summary([["Go 1.24", "oapi-codegen 2.5", "7 of 7"]])
      .split("\n")
      .map((line) => line.trim()),
  ).toEqual([
    expect.stringMatching(/^Client +Generator +Checks passed$/),
    expect.stringMatching(/^Go 1\.24 +oapi-codegen 2\.5 +7 of 7$/),
    "",
  ]);
});

test.each(toolchains)(
  "the generator of the $language client is pinned where its version is read",
  ({ folder, generator }) => {
    const text = readFileSync(new URL(`${folder}/${generator.file}`, import.meta.url), "utf8");
    expect(generator.version.exec(text)?.[1]).toMatch(/^\d+\.\d+\.\d+$/);
  },
);
