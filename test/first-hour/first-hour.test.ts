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

test("npm run first-hour breaks nothing that keeps its data, whatever is said, and nothing else unasked", async () => {
  const refused = (stderr: string) => ({ code: 2, stdout: "", stderr });
  expect(await run(true, ["--yes"])).toEqual(
    refused("staging keeps its data, and this breaks things.\n"),
  );
  expect(await run(false, [])).toEqual(
    refused("There is no terminal to ask on: decide with --yes.\n"),
  );
});

test("npm run first-hour checks in the pinned region with a key for four hours, and exits with 1 for a failure", async () => {
  const outputs = ["OrdersTableName", "ApiKeysTableName"].map(
    (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>${name}</OutputValue></member>`,
  );
  const stack = `<StackId>arn:aws:cloudformation:us-east-1:1:stack/s/1</StackId><Outputs>${outputs.join("")}</Outputs>`;
  const described = `<R><DescribeStacksResult><Stacks><member>${stack}</member></Stacks></DescribeStacksResult></R>`;
  const records: unknown[] = [];
  const regions = new Set<string | undefined>();
  await using server = createServer(async (request, response) => {
    const call = await text(request);
    const { authorization = "" } = request.headers;
    regions.add(/Credential=\w+\/\d+\/([\w-]+)\//.exec(authorization)?.[1]);
    if (call.startsWith("{")) records.push(JSON.parse(call).Item);
    response.end(call.startsWith("{") ? "{}" : described);
  });
  const aws = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${await listeningPort(server)}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const { code, stdout } = await run(false, ["--yes", "--part", "logs"], aws);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/\n0 passed, 2 failed\n$/),
  });
  const [{ createdAt, expiresAt }] = records as [Record<"createdAt" | "expiresAt", { N: string }>];
  expect(Number(expiresAt.N) - Number(createdAt.N)).toBe(4 * 3600);
  expect([...regions]).toEqual(["eu-north-1"]);
});
