import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync } from "esbuild";
import { bundling } from "../../infra/stack/bundles.ts";
import { byHand } from "./row.ts";

export const sdkBundledAlike = "the SDK bundled alike";
export const sdkAsItComes = "the SDK as it comes";

const files = {
  ListOrders: "list-orders.mjs",
  CancelOrder: "cancel-order.mjs",
  Authorize: "authorize.mjs",
};

export type FunctionId = keyof typeof files;

const floorFile = (file: string) =>
  fileURLToPath(new URL(`floor/${file}`, import.meta.url));
/** Builds the least work that could do the same as each function. */
export function buildFloors(directory: string) {
  const build = (name: string, client: string, options: BuildOptions = {}) =>
    buildSync({
      ...bundling,
      ...options,
      entryPoints: Object.entries(files).map(([out, file]) => ({
        out,
        in: floorFile(file),
      })),
      alias: { ...options.alias, "floor-dynamodb": floorFile(client) },
      outdir: join(directory, name),
    });
  build(byHand, "dynamodb.mjs");
  build(sdkAsItComes, "sdk/dynamodb.mjs");
  build(sdkBundledAlike, "sdk/dynamodb.mjs", bundling);
}
