import { z } from "zod";
import type { FunctionDefinition } from "../lambda/runtime-process.ts";
import { StartError } from "../start-error.ts";
import { ignoring } from "./checked.ts";
import { dummyCredentials, functionArn, pseudoParameters } from "./local-account.ts";
import type { SynthesisedStack } from "./synthesis.ts";

const functionSchema = z.strictObject({
  Code: z.strictObject({ S3Key: z.string(), ...ignoring("S3Bucket") }),
  Handler: z.string(),
  Runtime: z.string(),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  Environment: z.strictObject({ Variables: z.record(z.string(), z.string()).default({}) }).prefault({}),
  LoggingConfig: z
    .strictObject({
      LogFormat: z.string().default("Text"),
      ApplicationLogLevel: z.string().default("TRACE"),
      ...ignoring("LogGroup", "SystemLogLevel"),
    })
    .prefault({}),
  ...ignoring("Architectures", "Description", "ReservedConcurrentExecutions", "Role", "Tags"),
});

/**
 * The functions of a template with the environment that Lambda would give them, but a DynamoDB endpoint on this machine.
 *
 * @throws StartError when a function needs another Node.js than the one that runs.
 */
export function readFunctions({ template, assetDirectory }: SynthesisedStack, endpoint: string): FunctionDefinition[] {
  const running = `nodejs${process.versions.node.split(".")[0]}.x`;
  return template.all("AWS::Lambda::Function", functionSchema).map(({ name, properties }) => {
    const { Code, Environment, Handler, LoggingConfig, MemorySize, Runtime, Timeout } = properties;
    if (Runtime !== running) throw new StartError(`${name} needs the runtime ${Runtime}; this Node.js is ${running}`);
    return {
      name,
      arn: functionArn(name),
      directory: assetDirectory(Code.S3Key),
      handler: Handler,
      timeoutSeconds: Timeout,
      memoryMegabytes: MemorySize,
      environment: {
        ...Environment.Variables,
        AWS_ACCESS_KEY_ID: dummyCredentials.accessKeyId,
        AWS_DEFAULT_REGION: pseudoParameters["AWS::Region"],
        AWS_ENDPOINT_URL_DYNAMODB: endpoint,
        AWS_EXECUTION_ENV: `AWS_Lambda_${Runtime}`,
        AWS_LAMBDA_LOG_FORMAT: LoggingConfig.LogFormat,
        AWS_LAMBDA_LOG_LEVEL: LoggingConfig.ApplicationLogLevel,
        AWS_REGION: pseudoParameters["AWS::Region"],
        AWS_SECRET_ACCESS_KEY: dummyCredentials.secretAccessKey,
        AWS_SESSION_TOKEN: "local",
      },
    };
  });
}
