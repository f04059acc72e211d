import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { App, Stack } from "aws-cdk-lib/core";
import { expect, onTestFinished, test } from "vitest";
import { bundles } from "../../infra/stack/bundles.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { listen } from "../../infra/tools/local/machine/ports.ts";
import { startTlsEngine } from "../bench/tls-engine.ts";
import { machineHas } from "../helpers/machine.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

test("a deployed bundle has no source map, which would lengthen cold starts, and Lambda can read it", () => {
  const app = new App();
  const usual = process.umask(0o077);
  onTestFinished(() => {
    process.umask(usual);
  });
  bundles(new Stack(app));
  expect(readdirSync(`${app.outdir}/authorize`)).toEqual(["index.mjs"]);
  const { mode } = statSync(`${app.outdir}/authorize/index.mjs`);
  expect((mode & 0o777).toString(8)).toBe("644");
});

const actions = Object.values(functionList).map(({ action }) => action);

test.runIf(machineHas("openssl", "the bundles over TLS"))(
  "each function calls its table when it starts, with its session's token, over TLS or not",
  async () => {
    await using cleanup = new AsyncDisposableStack();
    let called: string[] = [];
    const tokens = new Set<unknown>();
    const { port, close } = await listen(0, ({ headers }, response) => {
      called.push(`${headers["x-amz-target"]}`.replace(/^DynamoDB_\d+\./, ""));
      // Lambda's credentials are temporary.
      tokens.add(headers["x-amz-security-token"]);
      response.writeHead(200, { "x-amzn-requestid": "A1" }).end("{}");
    });
    cleanup.defer(close);
    const endpoint = `http://127.0.0.1:${port}`;
    const tls = await startTlsEngine(endpoint, cleanup);
    const { directory } = await readAssembly();
    for (const address of [tls.AWS_ENDPOINT_URL_DYNAMODB, endpoint]) {
      // A busy machine takes longer than a start may wait.
      const code = `AbortSignal.timeout = () => new AbortController().signal;
        globalThis.awslambda = { streamifyResponse: (handler) => handler };
        for (const name of ${JSON.stringify(Object.keys(functionList))})
          await import("${directory}/" + name + "/index.mjs");`;
      const env = {
        ...testEnvironment,
        ...tls,
        AWS_ENDPOINT_URL_DYNAMODB: address,
        AWS_SESSION_TOKEN: "session",
      };
      const args = ["--input-type=module", "--eval", code];
      called = [];
      const { stderr } = await promisify(execFile)(process.execPath, args, { env });
      expect(stderr).toBe("");
      expect(called).toEqual(actions);
    }
    expect([...tokens]).toEqual(["session"]);
  },
);
