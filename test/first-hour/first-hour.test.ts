import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { listeningPort } from "../../infra/local/machine/ports.ts";

const main = fileURLToPath(new URL("../../infra/first-hour/first-hour.ts", import.meta.url));
const settings = new URL("../../infra/environments.ts", import.meta.url).href;

/**
 * Runs the command on an environment that keeps its data, or does not, in a region of its own. It
 * can't reach AWS, only what takes its place.
 */
function run(keepData: boolean, args: string[], aws: NodeJS.ProcessEnv = {}) {
  const account = JSON.stringify({ id: "111111111111", region: "eu-north-1" });
  const code = `import { environments } from "${settings}";
    Object.assign(environments.staging, { keepData: ${keepData}, account: ${account} });`;
  const nodeArgs = [
    `--import=data:text/javascript,${encodeURIComponent(code)}`,
    main,
    "--env",
    "staging",
    ...args,
  ];
  const env = {
    AWS_EC2_METADATA_DISABLED: "true",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    ...aws,
  };
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, nodeArgs, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

const refused = (stderr: string) => ({ code: 2, stdout: "", stderr });

test("npm run first-hour breaks nothing that keeps its data, even with --yes", async () => {
  expect(await run(true, ["--yes"])).toEqual(
    refused("staging keeps its data, and this breaks things.\n"),
  );
});

test("npm run first-hour breaks nothing without --yes where no one can be asked", async () => {
  expect(await run(false, [])).toEqual(
    refused("There is no terminal to ask on: decide with --yes.\n"),
  );
});

/** Runs a part that fails, and returns how it ended and what AWS was asked. */
async function runOnAws() {
  const outputs = ["OrdersTableName", "ApiKeysTableName"].map(
    (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>${name}</OutputValue></member>`,
  );
  const id = "<StackId>arn:aws:cloudformation:us-east-1:1:stack/s/1</StackId>";
  const stack = `<member>${id}<Outputs>${outputs.join("")}</Outputs></member>`;
  const stacks = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
  const records: Record<"createdAt" | "expiresAt", { N: string }>[] = [];
  const regions = new Set<string | undefined>();
  await using server = createServer(async (request, response) => {
    const call = await text(request);
    const { authorization = "" } = request.headers;
    regions.add(/Credential=\w+\/\d+\/([\w-]+)\//.exec(authorization)?.[1]);
    if (call.startsWith("{")) records.push(JSON.parse(call).Item);
    response.end(call.startsWith("{") ? "{}" : `<R>${stacks}</R>`);
  });
  const aws = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${await listeningPort(server)}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const ended = await run(false, ["--yes", "--part", "logs"], aws);
  return { ended, records, regions: [...regions] };
}

test("npm run first-hour exits with 1 for a failure", async () => {
  const { ended } = await runOnAws();
  expect(ended).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/\n0 passed, 2 failed\n$/),
  });
});

test("npm run first-hour asks in the pinned region", async () => {
  expect((await runOnAws()).regions).toEqual(["eu-north-1"]);
});

test("npm run first-hour issues a key for four hours", async () => {
  const { records } = await runOnAws();
  const validFor = records.map(
    ({ createdAt, expiresAt }) => Number(expiresAt.N) - Number(createdAt.N),
  );
  expect(validFor).toEqual([4 * 3600]);
});
