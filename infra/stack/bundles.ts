import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Code } from "aws-cdk-lib/aws-lambda";
import { AssetHashType, DockerImage, type Stack } from "aws-cdk-lib/core";
import { type BuildOptions, buildSync, type OutputFile } from "esbuild";
import { type PerFunction, perFunction } from "./function-list.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const replacement = (file: string): string => `${root}shared/bundled/${file}`;

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
  // Each replacement saves milliseconds of every cold start, and says how.
  alias: {
    // Without this line, the functions have the SDK's own client, which needs the next one.
    "@aws-sdk/client-dynamodb": replacement("client-dynamodb.ts"),
    "@aws-sdk/credential-provider-node": replacement("environment-credentials.ts"),
    "node:http": replacement("node-http.ts"),
  },
} satisfies BuildOptions;

/**
 * The code of each function, bundled from its file in `functions/`. All are built at once, so that
 * esbuild reads the SDK, most of every bundle, only once. CDK's own NodejsFunction would start
 * npm for each bundle, which takes longer than building it.
 */
export function bundles(stack: Stack): PerFunction<Code> {
  let built: OutputFile[] | undefined;
  return perFunction((name, { file }) => {
    const tryBundle = (directory: string): boolean => {
      // Source maps have the sources' paths from a folder beside the one that CDK keeps.
      built ??= build(dirname(directory), stack.node.tryGetContext("sourceMaps") === true);
      for (const { path, contents } of built) {
        if (basename(dirname(path)) === name)
          writeFileSync(join(directory, basename(path)), contents);
      }
      return true;
    };
    return Code.fromAsset(root, {
      assetHashType: AssetHashType.OUTPUT,
      // Tells the bundles apart; no container runs it.
      bundling: { command: [file], image: DockerImage.fromRegistry("none"), local: { tryBundle } },
    });
  });
}

/**
 * The files of all bundles, each in a folder of `outdir` that has its function's name. Writes none
 * of them.
 */
function build(outdir: string, sourcemap: boolean): OutputFile[] {
  return buildSync({
    ...bundling,
    entryPoints: perFunction((_, { file }) => `${root}functions/${file}`),
    outdir,
    write: false,
    // For `npm start` only: in Lambda they would lengthen every cold start.
    sourcemap,
    sourcesContent: false,
  }).outputFiles;
}
