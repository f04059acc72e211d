import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What stands for CloudFormation. */
export interface FakeCloudFormation {
  endpoint: string;
  stop(): void;
}

/** Answers DescribeStacks as CloudFormation does, with the outputs of the one stack there is. */
export function createFakeCloudFormation(
  stackName: string,
  outputs: Record<string, string>,
): Promise<FakeCloudFormation> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stack = `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
    <DescribeStacksResult><Stacks><member>
      <StackId>arn:aws:cloudformation:eu-central-1:123456789012:stack/${stackName}/5f3f</StackId>
      <StackName>${stackName}</StackName><StackStatus>UPDATE_COMPLETE</StackStatus>
      <CreationTime>2026-11-20T08:00:00.000Z</CreationTime>
      <Outputs>${members.join("")}</Outputs>
    </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const noStack = `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error>
    <Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id does not exist</Message>
    </Error></ErrorResponse>`;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const known = new URLSearchParams(body).get("StackName") === stackName;
    response.writeHead(known ? 200 : 400, { "content-type": "text/xml" }).end(known ? stack : noStack);
  });
  return listening(server);
}

/** Takes every connection and never says anything. */
export function createSilentServer(): Promise<FakeCloudFormation> {
  return listening(createServer(() => {}));
}

async function listening(server: Server): Promise<FakeCloudFormation> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
