import { basename, join } from "node:path";
import type { SynthesisedStack } from "./synthesis.ts";

/** A function as its template describes it, and where its bundle, DynamoDB and debugger are. */
export type FunctionDefinition = ReturnType<typeof readFunctions>[number];

/** Node.js's usual debugger port. */
const firstInspectPort = 9229;
/** How long a function may take that someone steps through. */
const daySeconds = 24 * 3600;

/**
 * The functions of a template.
 *
 * @param endpoint where they find DynamoDB.
 * @param inspect whether each gets a debugger port, and a day for its work.
 */
export function readFunctions(
  { template, directory }: SynthesisedStack,
  endpoint: string,
  inspect = false,
) {
  return template.all("AWS::Lambda::Function").map((properties, index) => ({
    ...properties,
    Timeout: inspect ? daySeconds : properties.Timeout,
    // CDK names an asset by its hash, here and in S3.
    directory: join(directory, `asset.${basename(properties.Code.S3Key, ".zip")}`),
    endpoint,
    /** Any free port is taken when another process is there. */
    inspectPort: inspect ? firstInspectPort + index : undefined,
  }));
}
