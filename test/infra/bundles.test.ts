import { join } from "node:path";
import { describe, expect, inject, test, vi } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { readStack } from "../../infra/template/synthesis.ts";

const functions = readFunctions(await readStack(inject("assembly")), "http://127.0.0.1:1");

const entries = Object.values<FunctionEntry>(functionList);
const streamed = entries.filter(({ operation }) => operation?.streamed).map(({ id }) => id);

describe("the bundle of every function", () => {
  test("exists for each function of the list", () => {
    expect(functions.map(({ name }) => name)).toEqual(entries.map(({ id }) => id));
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
      if (typeof handler === "function" && !streamed.includes(definition.name))
        expect(handler.length).toBeLessThanOrEqual(2);
    },
  );
});
