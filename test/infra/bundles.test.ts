import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { App, Stack } from "aws-cdk-lib/core";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { bundles, bundling } from "../../infra/stack/bundles.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { startTlsEngine, type TlsEngine } from "../bench/tls-engine.ts";
import { machineHas } from "../helpers/machine.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

const functions = readFunctions(await readAssembly(), "http://127.0.0.1:1");

const entries = Object.values<FunctionEntry>(functionList);
const streamed = entries.filter(({ operation }) => operation?.streamed).map(({ id }) => id);

describe("the bundle of", () => {
  const handlerOf = async ({ directory, handler }: FunctionDefinition): Promise<unknown> => {
    vi.stubGlobal("awslambda", { streamifyResponse: (streaming: unknown) => streaming });
    const [file, name = ""] = handler.split(".");
    return (await import(join(directory, `${file}.mjs`)))[name];
  };

  test.each(functions)("$name exports the handler that is configured", async (definition) => {
    expect(await handlerOf(definition)).toBeTypeOf("function");
  });

  // Node 24's runtime rejects handlers with more parameters, except streaming ones, which also take
  // the stream.
  test.each(functions.filter(({ name }) => !streamed.includes(name)))(
    "$name exports a handler with at most two parameters",
    async (definition) => {
      const handler = (await handlerOf(definition)) as (...parameters: unknown[]) => unknown;
      expect(handler.length).toBeLessThanOrEqual(2);
    },
  );
});

test("a deployed bundle has no source map, which would lengthen cold starts", () => {
  const app = new App();
  const stack = new Stack(app);
  bundles(stack).authorize.bind(stack);
  const written = readdirSync(app.outdir, { recursive: true, withFileTypes: true });
  const files = written.filter((entry) => entry.isFile()).map(({ name }) => name);
  expect(files).toEqual(["index.mjs"]);
});

describe.runIf(machineHas("openssl", "the bundles over TLS"))(
  "when it starts, the bundle of",
  () => {
    const actions: string[] = [];
    const table = createServer(({ headers }, response) => {
      actions.push(`${headers["x-amz-target"]}`.replace(/^DynamoDB_\d+\./, "dynamodb:"));
      response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end("{}");
    });
    let tls: TlsEngine;
    let endpoint: string;
    beforeAll(async () => {
      await once(table.listen(0, "127.0.0.1"), "listening");
      endpoint = `http://127.0.0.1:${(table.address() as AddressInfo).port}`;
      tls = await startTlsEngine(endpoint);
    });
    afterAll(async () => {
      await tls?.stop();
      table.closeAllConnections();
      table.close();
    });

    async function expectCall(
      { id, permission }: FunctionEntry,
      address: string,
      directory = functions.find(({ name }) => name === id)?.directory,
    ) {
      // A busy machine takes longer than a start may wait.
      const code = `AbortSignal.timeout = () => new AbortController().signal;
        globalThis.awslambda = { streamifyResponse: (handler) => handler };
        await import("${directory}/index.mjs");`;
      const env = {
        ...testEnvironment,
        AWS_ENDPOINT_URL_DYNAMODB: address,
        NODE_EXTRA_CA_CERTS: tls.certificate,
      };
      const args = ["--input-type=module", "--eval", code];
      const { stderr } = await promisify(execFile)(process.execPath, args, { env });
      expect(stderr).toBe("");
      expect(actions.splice(0)).toContain(permission.action);
    }

    test.each(entries)("$id calls its table over TLS", (entry) => expectCall(entry, tls.endpoint));

    test.each(entries)("$id calls its table over plain HTTP on a local stack", (entry) =>
      expectCall(entry, endpoint),
    );

    test.each(entries)(
      "$id calls its table with the SDK's own client, without the one that replaces it",
      async (entry) => {
        const directory = await mkdtemp(join(tmpdir(), "sdk-client-"));
        onTestFinished(() => rm(directory, { recursive: true }));
        const { "@aws-sdk/client-dynamodb": _, ...alias } = bundling.alias;
        const entryPoints = {
          [entry.id]: fileURLToPath(new URL(`../../functions/${entry.file}`, import.meta.url)),
        };
        buildSync({ ...bundling, alias, entryPoints, outdir: directory });
        await expectCall(entry, endpoint, join(directory, entry.id));
      },
    );
  },
);
