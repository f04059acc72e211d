import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCodeOf } from "../helpers/processes.ts";
import { watched } from "../helpers/watched.ts";
import { checks, conclude, failures } from "./checks.ts";
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
  expect(() => conclude([])).toThrow("No client ran");
});

test("a client that fails a check makes the exit code 1, and is shown beside the others", async () => {
  const go = { client: "Go 1.24", generator: "oapi-codegen 2.5", passed: 7, complaints: [] };
  const java = {
    client: "Java 21",
    generator: "openapi-generator 7",
    passed: 6,
    complaints: ["cancels an order: saw 500"],
  };
  const { printed, exitCode } = await watched(() => conclude([go, java]));
  expect(exitCode).toBe(1);
  expect(
    printed
      .join("\n")
      .split("\n")
      .map((line) => line.trim().replaceAll(/ {2,}/g, " | ")),
  ).toEqual([
    "Client | Generator | Checks passed",
    "Go 1.24 | oapi-codegen 2.5 | 7 of 7",
    "Java 21 | openapi-generator 7 | 6 of 7",
    "",
    "Java 21: cancels an order: saw 500",
  ]);
  expect(await watched(() => conclude([go]))).toMatchObject({ exitCode: 0 });
});

test("a tester that a signal ends has failed", async () => {
  const exitCode = (...end: [number | null, string | null]) => {
    const child = new EventEmitter();
    const exited = exitCodeOf(child);
    child.emit("exit", ...end);
    return exited;
  };
  expect(await Promise.all([exitCode(0, null), exitCode(2, null), exitCode(null, "SIGKILL")])).toEqual([0, 2, 1]);
});

test.each(toolchains)(
  "the generator of the $language client is pinned where its version is read",
  ({ folder, generator }) => {
    const text = readFileSync(new URL(`${folder}/${generator.file}`, import.meta.url), "utf8");
    expect(generator.version.exec(text)?.[1]).toMatch(/^\d+\.\d+\.\d+$/);
  },
);
