import { expect, test } from "vitest";
import { watched } from "../helpers/watched.ts";
import { checks, conclude, failures } from "./checks.ts";

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

test("a client that fails a check makes the exit code 1, and none at all proves nothing", async () => {
  const result = { client: "Go 1.24", generator: "oapi-codegen 2.5", passed: 7, complaints: [] };
  expect(await watched(() => conclude([result]))).toMatchObject({ exitCode: 0 });
  const failed = { ...result, complaints: ["cancels an order: saw 500"] };
  expect(await watched(() => conclude([result, failed]))).toMatchObject({ exitCode: 1 });
  expect(() => conclude([])).toThrow("No client ran");
});
