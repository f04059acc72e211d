import { join } from "node:path";
import { describe, expect, inject, test, vi } from "vitest";
import { readStack } from "../../infra/local/template/template.ts";

const { template, assetDirectory } = await readStack(inject("assembly"));
const functions = template.ids("AWS::Lambda::Function");

describe("the bundle of every function", () => {
  test("is there three times", () => {
    expect(functions).toHaveLength(3);
  });

  test.each(functions)("%s exports the handler that is configured, with at most two parameters", async (id) => {
    vi.stubGlobal("awslambda", { streamifyResponse: (handler: unknown) => handler });
    const [file, name = ""] = template.properties(id).text("Handler").split(".");
    const directory = assetDirectory(template.properties(id).nested("Code").text("S3Key"));
    const bundle: Record<string, unknown> = await import(join(directory, `${file}.mjs`));
    const handler = bundle[name];
    expect(handler).toBeTypeOf("function");
    // Node 24's runtime refuses more, but for streaming handlers, to which it hands the stream too.
    if (typeof handler === "function" && !id.startsWith("ListOrders")) expect(handler.length).toBeLessThanOrEqual(2);
  });
});
