import { chmodSync } from "node:fs";
import { join } from "node:path";
import { Code } from "aws-cdk-lib/aws-lambda";
import { type Stack, Stage } from "aws-cdk-lib/core";
import { type BuildOptions, buildSync } from "esbuild";
import { type PerFunction, perFunction } from "./function-list.ts";

const root = join(import.meta.dirname, "../..");
const replacements = `${root}/shared/bundled`;

/** How esbuild makes a function the one file that Lambda loads. */
export const bundling = {
  entryNames: "[name]/index",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  mainFields: ["module", "main"],
  minify: true,
  // Switches off the SDK's warning about old versions of Node.js, which never run this.
  define: {
    "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED":
      JSON.stringify("true"),
  },
  // Each replacement saves milliseconds of every cold start, and says how.
  alias: {
    "@aws-sdk/credential-provider-node": `${replacements}/environment-credentials.ts`,
    "@smithy/core/event-streams": `${replacements}/no-event-streams.ts`,
    "node:crypto": `${replacements}/node-builtins.ts`,
    "node:http": `${replacements}/node-builtins.ts`,
    "node:os": `${replacements}/node-builtins.ts`,
    "node:process": `${replacements}/node-builtins.ts`,
  },
} satisfies BuildOptions;

/**
 * The code of each function, bundled from its file in `functions/`. All are built at once, so that
 * esbuild reads the SDK, most of every bundle, only once. CDK's own NodejsFunction would start
 * npm for each bundle, which takes longer than building it.
 */
export function bundles(stack: Stack): PerFunction<Code> {
  // CDK copies each bundle to a folder beside it, where the paths of a source map still lead to the
  // sources.
  const outdir = Stage.of(stack)?.outdir ?? "cdk.out";
  // A stack that isn't being deployed needs no bundles: the sources stand in for them.
  if (!stack.bundlingRequired)
    return perFunction(() => Code.fromAsset(`${root}/functions`));
  buildSync({
    ...bundling,
    entryPoints: perFunction((_, { file }) => `${root}/functions/${file}`),
    outdir,
    // For `npm start` only: in Lambda they would lengthen every cold start.
    sourcemap: stack.node.tryGetContext("sourceMaps") === true,
    sourcesContent: false,
  });
  return perFunction((name) => {
    const folder = join(outdir, name);
    // CDK uploads files with their mode, and Lambda can't read what only their owner can.
    chmodSync(join(folder, "index.mjs"), 0o644);
    return Code.fromAsset(folder);
  });
}
