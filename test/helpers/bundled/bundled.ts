import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { bundling } from "../../../infra/stack/bundles.ts";

const { outputFiles } = buildSync({
  ...bundling,
  entryPoints: [fileURLToPath(new URL("service-modules.ts", import.meta.url))],
  outdir: "bundled",
  write: false,
});
const code = Buffer.from(outputFiles[0]?.contents ?? "").toString("base64");

/** The modules of the service as they are in the functions' bundles, with the client there. */
export const bundled: typeof import("./service-modules.ts") = await import(
  `data:text/javascript;base64,${code}`
);
