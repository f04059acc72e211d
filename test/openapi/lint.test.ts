import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentFile } from "../helpers/openapi/document.ts";

const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
const config = fileURLToPath(new URL("redocly.yaml", import.meta.url));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "lint-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** What the linter reports on a document: each problem's rule and where it is. */
async function lint(file: string): Promise<[ruleId: string, pointer: string][]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [redocly, "lint", `--config=${config}`, "--format=json", file],
    { env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } },
  ).catch((failure: { stdout: string }) => failure);
  const { problems }: { problems: { ruleId: string; location: { pointer: string }[] }[] } = JSON.parse(stdout);
  return problems.map(({ ruleId, location }) => [ruleId, location[0]?.pointer ?? ""]);
}

test("the document is free of lint", async () => {
  expect(await lint(fileURLToPath(documentFile))).toEqual([]);
});

describe("the lint rejects", () => {
  test.each([
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
    ...["additionalProperties", "unevaluatedProperties"].map((keyword) => ({
      flaw: `an object with ${keyword}: false`,
      text: "    Error:\n      type: object\n",
      broken: `    Error:\n      type: object\n      ${keyword}: false\n`,
      problem: ["rule/no-closed-object", `#/components/schemas/Error/${keyword}`],
    })),
    {
      flaw: "what Redocly's recommended rules reject",
      text: "      operationId: listOrders\n",
      broken: "",
      problem: ["operation-operationId", "#/paths/~1store~1orders/get/operationId"],
    },
  ])("$flaw", async ({ flaw, text, broken, problem }) => {
    const document = await readFile(documentFile, "utf8");
    expect(document).toContain(text);
    const file = join(directory, `${flaw}.yaml`);
    await writeFile(file, document.replace(text, broken));
    expect(await lint(file)).toEqual([problem]);
  });
});
