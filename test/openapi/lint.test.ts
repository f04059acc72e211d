import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { documentFile } from "../helpers/openapi/document.ts";

const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
const config = fileURLToPath(new URL("redocly.yaml", import.meta.url));

const document = await readFile(documentFile, "utf8");

/** Flaws to plant in the document, each with the one problem that the linter must report. */
const flaws = [
  {
    flaw: "a schema without a type",
    text: "{ type: string, const: no-store }",
    broken: "{ const: no-store }",
    problem: ["rule/schema-has-type", "#/components/headers/NoStore/schema"],
  },
  {
    flaw: "an integer without a format",
    text: "quantity: { type: integer, format: int64,",
    broken: "quantity: { type: integer,",
    problem: ["rule/integer-has-format", "#/components/schemas/Order/properties/quantity"],
  },
  {
    flaw: "a closed enum",
    text: "x-extensible-enum:",
    broken: "enum:",
    problem: ["rule/no-closed-enum", "#/components/schemas/Error/properties/code/enum"],
  },
  {
    flaw: "an object that may have no further properties",
    text: "    Error:\n      type: object\n",
    broken: "    Error:\n      type: object\n      additionalProperties: false\n",
    problem: ["rule/no-closed-object", "#/components/schemas/Error/additionalProperties"],
  },
];

type Problem = [ruleId: string, pointer: string];
let problems: Problem[][];
beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), "lint-"));
  try {
    const files = ["right", ...flaws.map(({ flaw }) => flaw)].map((name) => join(directory, `${name}.yaml`));
    const texts = [document, ...flaws.map(({ text, broken }) => document.replace(text, broken))];
    await Promise.all(files.map((file, index) => writeFile(file, texts[index] ?? "")));
    problems = await lint(files);
  } finally {
    await rm(directory, { recursive: true });
  }
});

/** The linter's report on each file: every problem's rule and where it is. */
async function lint(files: string[]): Promise<Problem[][]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [redocly, "lint", `--config=${config}`, "--format=json", ...files],
    { env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } },
  ).catch((failure: { stdout: string }) => failure);
  // It prints one JSON object after the other, in the order of the files.
  return stdout.split(/(?<=^\})(?=\{)/m).map((text) => {
    const report: { problems: { ruleId: string; location: { pointer: string }[] }[] } = JSON.parse(text);
    return report.problems.map(({ ruleId, location }): Problem => [ruleId, location[0]?.pointer ?? ""]);
  });
}

test("the document is free of lint", () => {
  expect(problems[0]).toEqual([]);
});

describe("the lint rejects", () => {
  test.each(flaws.map((flaw, index) => ({ ...flaw, index })))("$flaw", ({ text, problem, index }) => {
    expect(document).toContain(text);
    expect(problems[index + 1]).toEqual([problem]);
  });
});
