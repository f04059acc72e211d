import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));

test("the document is free of lint", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      redocly,
      "lint",
      "--config=test/openapi/redocly.yaml",
      "--format=json",
      "shared/openapi.yaml",
    ],
    {
      env: {
        ...process.env,
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      },
    },
  ).catch((failure: { stdout: string }) => failure);
  const { problems }: { problems: { ruleId: string; location: { pointer: string }[] }[] } =
    JSON.parse(stdout);
  expect(
    problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`),
  ).toEqual([]);
});
