import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));

test("the document is valid OpenAPI, and free of lint", async () => {
  const options = ["--config=test/openapi/redocly.yaml", "--format=json"];
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: "off",
    REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [redocly, "lint", ...options, "shared/openapi.yaml"],
    { env },
  ).catch((failure: { stdout: string }) => failure);
  expect(JSON.parse(stdout)).toMatchObject({ problems: [] });
});
