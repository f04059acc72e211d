import { answer, type Behaviour } from "../faults/fault-proxy.ts";

/** DynamoDB's error response with this name, to a call that the engine never sees. */
export function rejectedAs(name: string, message = "injected by a test"): Behaviour {
  const body = Buffer.from(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message }));
  return ({ response }) =>
    answer(response, { status: 400, headers: { "content-type": "application/x-amz-json-1.0" }, body });
}
