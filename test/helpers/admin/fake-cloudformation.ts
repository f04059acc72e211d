import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The one stack that a fake CloudFormation knows. */
export interface FakeStack {
  name: string;
  account: string;
  region: string;
  outputs: Record<string, string>;
}

export interface FakeServer {
  endpoint: string;
  stop(): void;
}

/** Starts a server that answers DescribeStacks as CloudFormation does. */
export function startFakeCloudFormation({ name, account, region, outputs }: FakeStack): Promise<FakeServer> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stack = `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
    <DescribeStacksResult><Stacks><member>
      <StackId>arn:aws:cloudformation:${region}:${account}:stack/${name}/5f3f</StackId>
      <StackName>${name}</StackName><StackStatus>UPDATE_COMPLETE</StackStatus>
      <CreationTime>2026-11-20T08:00:00.000Z</CreationTime>
      <Outputs>${members.join("")}</Outputs>
    </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const noStack = `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error>
    <Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id does not exist</Message>
    </Error></ErrorResponse>`;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const known = new URLSearchParams(body).get("StackName") === name;
    response.writeHead(known ? 200 : 400, { "content-type": "text/xml" }).end(known ? stack : noStack);
  });
  return listening(server);
}

/** Starts a server that accepts every connection and never responds. */
export function startSilentServer(): Promise<FakeServer> {
  return listening(createServer(() => {}));
}

async function listening(server: Server): Promise<FakeServer> {
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
