import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
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

/** Runs a part that fails, with AWS replaced by a stack with these outputs. */
async function runOnStack(outputs: string[]) {
  const members = outputs.map(
    (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>${name}</OutputValue></member>`,
  );
  const id = "<StackId>arn:aws:cloudformation:us-east-1:1:stack/s/1</StackId>";
  const stack = `<member>${id}<Outputs>${members.join("")}</Outputs></member>`;
  const stacks = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
  const keys: Record<"createdAt" | "expiresAt", { N: string }>[] = [];
  const regions = new Set<string | undefined>();
  await using server = createServer(async (request, response) => {
    const call = await text(request);
    const { authorization = "" } = request.headers;
    regions.add(/Credential=\w+\/\d+\/([\w-]+)\//.exec(authorization)?.[1]);
    if (call.startsWith("{")) keys.push(JSON.parse(call).Item);
    response.end(call.startsWith("{") ? "{}" : `<R>${stacks}</R>`);
  });
  const aws = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${await listeningPort(server)}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const ended = await run(false, ["--yes", "--part", "logs"], aws);
  return { ...ended, keys, regions: [...regions] };
}

describe("npm run first-hour", () => {
  const rejected = (stderr: string) => ({ code: 2, stdout: "", stderr });

  test("rejects an environment that keeps its data, even with --yes", async () => {
    expect(await run(true, ["--yes"])).toEqual(
      rejected("staging keeps its data, and first-hour breaks things.\n"),
    );
  });

  test("breaks nothing without --yes where no one can be asked", async () => {
    expect(await run(false, [])).toEqual(
      rejected("There is no terminal to ask on. Pass --yes to go on without asking.\n"),
    );
  });

  describe("with checks that fail", () => {
    let ended: Awaited<ReturnType<typeof runOnStack>>;
    beforeAll(async () => {
      ended = await runOnStack(["OrdersTableName", "ApiKeysTableName", "BaseUrl"]);
    });

    test("exits with 1", () => {
      expect(ended.code).toBe(1);
    });

    test("counts them", () => {
      expect(ended.stdout).toMatch(/\n0 passed, 2 failed\n$/);
    });

    test("calls AWS in the pinned region only", () => {
      expect(ended.regions).toEqual(["eu-north-1"]);
    });

    test("issues a key for four hours", () => {
      const validFor = ended.keys.map(
        ({ createdAt, expiresAt }) => Number(expiresAt.N) - Number(createdAt.N),
      );
      expect(validFor).toEqual([4 * 3600]);
    });
  });

  describe("on a stack without a base URL", () => {
    let ended: Awaited<ReturnType<typeof runOnStack>>;
    beforeAll(async () => {
      ended = await runOnStack(["OrdersTableName", "ApiKeysTableName"]);
    });

    test("says which output is missing", () => {
      expect(ended.stderr).toMatch(/^Stack \S+ has no output BaseUrl\n$/);
    });

    test("exits with 1", () => {
      expect(ended.code).toBe(1);
    });

    test("issues no key", () => {
      expect(ended.keys).toEqual([]);
    });
  });
});
