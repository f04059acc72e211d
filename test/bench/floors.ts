import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync } from "esbuild";
import { bundling } from "../../infra/stack/bundles.ts";
import { byHand, sdkAlone, stockSdk } from "./row.ts";

/** A way to do a function's work, by its name in the rows. */
export type Variant = "ours" | typeof stockSdk | typeof sdkAlone | typeof byHand;
export type FunctionId = "ListOrders" | "CancelOrder" | "Authorize";

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const functions = {
  ListOrders: pathOf("../../functions/list-orders.ts"),
  CancelOrder: pathOf("../../functions/cancel-order.ts"),
  Authorize: pathOf("../../functions/authorize.ts"),
};
const leastWork = {
  ListOrders: pathOf("floor/list-orders.mjs"),
  CancelOrder: pathOf("floor/cancel-order.mjs"),
};

/** Builds every variant but ours of the functions, each into a folder of its name. */
export function buildVariants(directory: string) {
  const build = (variant: Variant, options: BuildOptions) =>
    buildSync({ ...bundling, ...options, outdir: join(directory, variant) });
  const calling = (client: string) => ({
    entryPoints: leastWork,
    alias: { ...bundling.alias, "floor-dynamodb": pathOf(client) },
  });
  build(byHand, calling("floor/dynamodb.mjs"));
  build(sdkAlone, calling("floor/sdk/dynamodb.mjs"));
  build(stockSdk, {
    entryPoints: functions,
    alias: { "@aws-sdk/client-dynamodb": pathOf("floor/sdk/as-it-comes.mjs") },
    define: {},
  });
}
