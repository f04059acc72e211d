import { dummyCredentials } from "../engine/tables.ts";
import type { FunctionDefinition } from "../lambda/execution-environment.ts";
import { StartError } from "../start-error.ts";
import { functionArn, pseudoParameters, type SynthesisedStack } from "./template.ts";

/** The functions of a template, with the environment that Lambda would give them, except for where DynamoDB is. */
export function readFunctions({ template, assetDirectory }: SynthesisedStack, endpoint: string): FunctionDefinition[] {
  return template.ids("AWS::Lambda::Function").map((id) => {
    const properties = template.properties(id);
    const name = template.reference(id);
    const runtime = properties.text("Runtime");
    const running = `nodejs${process.versions.node.split(".")[0]}.x`;
    if (runtime !== running) throw new StartError(`${name} needs the runtime ${runtime}; this Node.js is ${running}`);
    const logging = properties.nested("LoggingConfig");
    const definition = {
      name,
      arn: functionArn(name),
      directory: assetDirectory(properties.nested("Code").text("S3Key")),
      handler: properties.text("Handler"),
      timeoutSeconds: properties.number("Timeout", 3),
      memoryMegabytes: properties.number("MemorySize", 128),
      environment: {
        ...properties.nested("Environment").texts("Variables"),
        AWS_ACCESS_KEY_ID: dummyCredentials.accessKeyId,
        AWS_DEFAULT_REGION: pseudoParameters["AWS::Region"],
        AWS_ENDPOINT_URL_DYNAMODB: endpoint,
        AWS_EXECUTION_ENV: `AWS_Lambda_${runtime}`,
        AWS_LAMBDA_LOG_FORMAT: logging.text("LogFormat", "Text"),
        AWS_LAMBDA_LOG_LEVEL: logging.text("ApplicationLogLevel", "TRACE"),
        AWS_REGION: pseudoParameters["AWS::Region"],
        AWS_SECRET_ACCESS_KEY: dummyCredentials.secretAccessKey,
        AWS_SESSION_TOKEN: "local",
      },
    };
    properties.nothingElse("Architectures", "Description", "ReservedConcurrentExecutions", "Role", "Tags");
    return definition;
  });
}
