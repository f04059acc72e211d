import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { goals } from "./goals.ts";
import type { Row } from "./row.ts";

/** The kilobytes (1024 bytes) of each function's bundle, minified, the SDK included. */
export async function bundleSizes(definitions: FunctionDefinition[]): Promise<Row[]> {
  return Promise.all(
    definitions.map(async ({ name, directory }): Promise<Row> => {
      const { size } = await stat(join(directory, "index.mjs"));
      const value = size / 1024;
      const ours = `${value.toFixed(1)} KB`;
      return { what: `bundle of ${name}`, ours, floor: "", value, ...goals.bundle, unit: "KB" };
    }),
  );
}
