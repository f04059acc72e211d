import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Row } from "./row.ts";
import type { Subject } from "./subject.ts";

/** Kilobytes (1024 bytes) that each function's bundle may have. */
export const bundleBudget = 230;

/** The size of each function's bundle, minified, the SDK included. */
export async function bundleSizes({ functions }: Pick<Subject, "functions">): Promise<Row[]> {
  return Promise.all(
    Object.values(functions).map(async ({ name, directory }) => {
      const { size } = await stat(join(directory, "index.mjs"));
      const value = size / 1024;
      return {
        what: `bundle of ${name}`,
        ours: `${value.toFixed(1)} KB`,
        floor: "",
        value,
        goal: bundleBudget,
        margin: 0,
        unit: "KB" as const,
      };
    }),
  );
}
