import { basename, join } from "node:path";
import type { FunctionDefinition } from "./lambda/runtime-process.ts";
import { arnOf, dummyCredentials, region } from "./template/local-account.ts";
import type { SynthesisedStack } from "./template/synthesis.ts";

/** Node.js's usual debugger port. */
const firstInspectPort = 9229;
/** How long a function may take that someone steps through. */
const daySeconds = 24 * 3600;

/**
 * The functions of a template, each with the environment that Lambda would give it, except that
 * DynamoDB is at this endpoint.
 *
 * @param inspect whether each gets a debugger port, and a day for its work.
 */
export function readFunctions(
  { template, directory }: SynthesisedStack,
  endpoint: string,
  inspect = false,
): FunctionDefinition[] {
  return template.all("AWS::Lambda::Function").map((properties, index) => {
    const {
      name,
      Code,
      Environment,
      Handler,
      LoggingConfig,
      MemorySize,
      Runtime,
      Timeout,
    } = properties;
    return {
      name,
      arn: arnOf("lambda", `function:${name}`),
      // CDK names an asset by its hash, here and in S3.
      directory: join(directory, `asset.${basename(Code.S3Key, ".zip")}`),
      handler: Handler,
      timeoutSeconds: inspect ? daySeconds : Timeout,
      inspectPort: inspect ? firstInspectPort + index : undefined,
      memoryMegabytes: MemorySize,
      environment: {
        ...Environment.Variables,
        AWS_ACCESS_KEY_ID: dummyCredentials.accessKeyId,
        AWS_DEFAULT_REGION: region,
        AWS_ENDPOINT_URL_DYNAMODB: endpoint,
        AWS_EXECUTION_ENV: `AWS_Lambda_${Runtime}`,
        AWS_LAMBDA_LOG_FORMAT: LoggingConfig.LogFormat,
        AWS_LAMBDA_LOG_LEVEL: LoggingConfig.ApplicationLogLevel,
        AWS_REGION: region,
        AWS_SECRET_ACCESS_KEY: dummyCredentials.secretAccessKey,
        AWS_SESSION_TOKEN: "local",
      },
    };
  });
}
