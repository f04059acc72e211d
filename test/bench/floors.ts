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
const nodeBuiltins = floorFile("sdk/node-builtins.ts");
const { "@aws-sdk/client-dynamodb": _, ...alias } = bundling.alias;

/** As the functions were bundled while they had the SDK's own client. */
const sdkBundling: BuildOptions = {
  define: {
    "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED":
      JSON.stringify("true"),
  },
  alias: {
    ...alias,
    "@smithy/core/event-streams": floorFile("sdk/no-event-streams.ts"),
    "node:crypto": nodeBuiltins,
    "node:os": nodeBuiltins,
    "node:process": nodeBuiltins,
  },
};

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
  build(sdkBundledAlike, "sdk/dynamodb.mjs", sdkBundling);
}
