/**
 * Stands in for the AWS CLI: `aws dynamodb put-item --table-name T --item '{...}'` and `update-item` call the engine at
 * AWS_ENDPOINT_URL_DYNAMODB. Otherwise it only tells an output of a stack, which it finds in STACK_OUTPUTS.
 */
import {
  DynamoDBClient,
  DynamoDBServiceException,
  PutItemCommand,
  PutItemInput$,
  UpdateItemCommand,
  UpdateItemInput$,
} from "@aws-sdk/client-dynamodb";

const pascalCase = (name: string): string =>
  name.replace(/(?:^-*|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

const [service, operation = "", ...rest] = process.argv.slice(2);
const options = Object.fromEntries(
  rest.flatMap((option, at) => (at % 2 === 0 ? [[pascalCase(option), rest[at + 1] ?? ""]] : [])),
);

if (service === "dynamodb") await callEngine();
else tellOutput();

async function callEngine(): Promise<void> {
  const members = { "put-item": PutItemInput$[4], "update-item": UpdateItemInput$[4] }[operation] ?? [];
  const unknown = Object.keys(options).filter((name) => !members.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown options: ${unknown}`);
  const json = Object.entries(options).map(([name, text]) => {
    return `${JSON.stringify(name)}:${/^[[{]/.test(text) ? text : JSON.stringify(text)}`;
  });
  const input = JSON.parse(`{${json}}`);
  const client = new DynamoDBClient();
  try {
    await (operation === "put-item"
      ? client.send(new PutItemCommand(input))
      : client.send(new UpdateItemCommand(input)));
  } catch (error) {
    if (!(error instanceof DynamoDBServiceException)) throw error;
    const call = `calling the ${pascalCase(operation)} operation`;
    process.stderr.write(`An error occurred (${error.name}) when ${call}: ${error.message}\n`);
    process.exitCode = 254;
  }
}

function tellOutput(): void {
  const { StackName = "", Query = "", Output } = options;
  const [, name = ""] = /^Stacks\[0\]\.Outputs\[\?OutputKey=='(\w+)'\]\.OutputValue$/.exec(Query) ?? [];
  if (`${service} ${operation} ${Output}` !== "cloudformation describe-stacks text") throw new Error("Unknown command");
  process.stdout.write(`${JSON.parse(process.env["STACK_OUTPUTS"] ?? "")[StackName][name]}\n`);
}
