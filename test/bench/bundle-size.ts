import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import type { Row } from "./row.ts";

/** Kilobytes (1024 bytes) that each function's bundle may have, minified, the SDK included. */
const budget = 230;

export async function bundleSizes(definitions: FunctionDefinition[]): Promise<Row[]> {
  return Promise.all(
    definitions.map(async ({ name, directory }): Promise<Row> => {
      const { size } = await stat(join(directory, "index.mjs"));
      const value = size / 1024;
      const ours = `${value.toFixed(1)} KB`;
      return { what: `bundle of ${name}`, ours, floor: "", value, goal: budget, margin: 0, unit: "KB" };
    }),
  );
}
