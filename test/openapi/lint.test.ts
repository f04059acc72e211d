import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { documentFile } from "../helpers/openapi/document.ts";

const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
const config = fileURLToPath(new URL("redocly.yaml", import.meta.url));

test("the document is free of lint", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [redocly, "lint", `--config=${config}`, "--format=json", fileURLToPath(documentFile)],
    { env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } },
  ).catch((failure: { stdout: string }) => failure);
  const { problems }: { problems: { ruleId: string; location: { pointer: string }[] }[] } =
    JSON.parse(stdout);
  expect(problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)).toEqual([]);
});
