import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { App, Stack } from "aws-cdk-lib/core";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { bundles, bundling } from "../../infra/stack/bundles.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { startTlsEngine } from "../bench/tls-engine.ts";
import { machineHas } from "../helpers/machine.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

const functions = readFunctions(await readAssembly(), "http://127.0.0.1:1");
const entries = Object.values<FunctionEntry>(functionList);

// Node 24's runtime rejects handlers with more parameters, except streaming ones, which also take
// the stream.
test.each(functions)(
  "the bundle of $name exports the handler that is configured",
  async (built) => {
    vi.stubGlobal("awslambda", { streamifyResponse: (streaming: unknown) => streaming });
    const [file, name = ""] = built.handler.split(".");
    const { [name]: handler } = await import(join(built.directory, `${file}.mjs`));
    const isStreamed = entries.find(({ id }) => id === built.name)?.operation?.streamed;
    expect(handler).toBeTypeOf("function");
    expect(handler.length).toBeLessThanOrEqual(isStreamed ? 3 : 2);
  },
);

test("a deployed bundle has no source map, which would lengthen cold starts", () => {
  const app = new App();
  const stack = new Stack(app);
  bundles(stack).authorize.bind(stack);
  const written = readdirSync(app.outdir, { recursive: true, withFileTypes: true });
  const files = written.filter((entry) => entry.isFile()).map(({ name }) => name);
  expect(new Set(files)).toEqual(new Set(["index.mjs"]));
});

describe.runIf(machineHas("openssl", "the bundles over TLS"))(
  "each bundle, when it starts,",
  () => {
    const actions = new Set<string>();
    const table = createServer(({ headers }, response) => {
      actions.add(`${headers["x-amz-target"]}`.replace(/^DynamoDB_\d+\./, "dynamodb:"));
      response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end("{}");
    });
    const cleanup = new AsyncDisposableStack();
    let tls: Awaited<ReturnType<typeof startTlsEngine>>;
    let endpoint: string;
    beforeAll(async () => {
      await once(table.listen(0, "127.0.0.1"), "listening");
      endpoint = `http://127.0.0.1:${(table.address() as AddressInfo).port}`;
      tls = await startTlsEngine(endpoint, cleanup);
    });
    afterAll(async () => {
      await cleanup.disposeAsync();
      table.closeAllConnections();
      table.close();
    });

    async function expectCalls(
      address: string,
      directories = functions.map(({ directory }) => directory),
    ) {
      // A busy machine takes longer than a start may wait.
      const code = `AbortSignal.timeout = () => new AbortController().signal;
      globalThis.awslambda = { streamifyResponse: (handler) => handler };
      for (const directory of ${JSON.stringify(directories)})
        await import(directory + "/index.mjs");`;
      const env = {
        ...testEnvironment,
        AWS_ENDPOINT_URL_DYNAMODB: address,
        NODE_EXTRA_CA_CERTS: tls.certificate,
      };
      const args = ["--input-type=module", "--eval", code];
      actions.clear();
      const { stderr } = await promisify(execFile)(process.execPath, args, { env });
      expect(stderr).toBe("");
      expect([...actions]).toEqual(
        expect.arrayContaining(entries.map((e) => e.permission.action)),
      );
    }

    test("calls its table over TLS", () => expectCalls(tls.endpoint));

    test("calls its table over plain HTTP on a local stack", () => expectCalls(endpoint));

    test("calls its table with the SDK's own client, without the one that replaces it", async () => {
      const outdir = await mkdtemp(join(tmpdir(), "sdk-client-"));
      onTestFinished(() => rm(outdir, { recursive: true }));
      const { "@aws-sdk/client-dynamodb": _, ...alias } = bundling.alias;
      const sources = entries.map(({ id, file }) => [id, `functions/${file}`]);
      const entryPoints: Record<string, string> = Object.fromEntries(sources);
      buildSync({ ...bundling, alias, entryPoints, outdir });
      await expectCalls(
        endpoint,
        entries.map(({ id }) => join(outdir, id)),
      );
    });
  },
);
