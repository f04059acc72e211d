import { fileURLToPath } from "node:url";
import { Code } from "aws-cdk-lib/aws-lambda";
import { AssetHashType, DockerImage, type Stack } from "aws-cdk-lib/core";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const insteadOf = (file: string): string => `${root}shared/bundled/${file}`;

/**
 * The code of a function, bundled from a file of `functions/`. CDK's own NodejsFunction starts npm for each bundle, which
 * takes longer than the bundle.
 */
export function bundle(stack: Stack, file: string): Code {
  const tryBundle = (directory: string): boolean => {
    buildSync({
      entryPoints: [`${root}functions/${file}`],
      outfile: `${directory}/index.mjs`,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node24",
      mainFields: ["module", "main"],
      minify: true,
      // For `npm start` only: in Lambda they would lengthen every cold start.
      sourcemap: stack.node.tryGetContext("sourceMaps") === true,
      sourcesContent: false,
      // The SDK's warning about old versions of Node, which never run this.
      define: { "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": JSON.stringify("true") },
      // Each saves milliseconds of every cold start, and its file says how.
      alias: {
        "@aws-sdk/credential-provider-node": insteadOf("environment-credentials.ts"),
        "@smithy/core/event-streams": insteadOf("no-event-streams.ts"),
        "node:http": insteadOf("node-http.ts"),
        "node:crypto": insteadOf("node-builtins.ts"),
        "node:os": insteadOf("node-builtins.ts"),
        "node:process": insteadOf("node-builtins.ts"),
      },
    });
    return true;
  };
  return Code.fromAsset(root, {
    assetHashType: AssetHashType.OUTPUT,
    // Tells the bundles apart; no container runs it.
    bundling: { command: [file], image: DockerImage.fromRegistry("none"), local: { tryBundle } },
  });
}
