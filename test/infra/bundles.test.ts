import { join } from "node:path";
import { describe, expect, inject, test, vi } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { readStack } from "../../infra/template/synthesis.ts";

const functions = readFunctions(await readStack(inject("assembly")), "http://127.0.0.1:1");

describe("the bundle of every function", () => {
  test("exists for all three functions", () => {
    expect(functions).toHaveLength(3);
  });

  test.each(functions)(
    "$name exports the handler that is configured, with at most two parameters",
    async (definition) => {
      vi.stubGlobal("awslambda", { streamifyResponse: (handler: unknown) => handler });
      const [file, name = ""] = definition.handler.split(".");
      const bundle: Record<string, unknown> = await import(join(definition.directory, `${file}.mjs`));
      const handler = bundle[name];
      expect(handler).toBeTypeOf("function");
      // Node 24's runtime rejects handlers with more parameters, except streaming ones, which also take the stream.
      if (typeof handler === "function" && definition.name !== "ListOrders")
        expect(handler.length).toBeLessThanOrEqual(2);
    },
  );
});
