import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../../infra/first-hour/main.ts", import.meta.url));
const settings = new URL("../../infra/environments.ts", import.meta.url).href;

/** Runs the command on an environment that keeps its data, or does not. Nothing lets it reach AWS. */
function run(keepData: boolean, ...args: string[]) {
  const code = `import { environments } from "${settings}"; environments.staging.keepData = ${keepData};`;
  const nodeArgs = [`--import=data:text/javascript,${encodeURIComponent(code)}`, main, "--env", "staging", ...args];
  const env = { AWS_EC2_METADATA_DISABLED: "true", NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, nodeArgs, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

test("npm run first-hour breaks nothing that keeps its data, whatever is said, and nothing else unasked", async () => {
  const refused = (stderr: string) => ({ code: 2, stdout: "", stderr });
  expect(await run(true, "--yes")).toEqual(refused("staging keeps its data, and this breaks things.\n"));
  expect(await run(false)).toEqual(refused("There is no terminal to ask on: decide with --yes.\n"));
});
