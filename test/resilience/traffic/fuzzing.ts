import { Agent } from "node:http";
import fc from "fast-check";
import type { LocalStack } from "../../../infra/tools/local/local-stack.ts";
import { responseProblems } from "../../../infra/tools/smoke/document.ts";
import type { HttpResponse } from "../../helpers/expect-error.ts";
import { send } from "../../helpers/send.ts";
import { tableWriter } from "../../helpers/table-writer.ts";
import { type FuzzRequest, fuzzedIds, fuzzRequests, marker } from "./fuzz-requests.ts";
import type { ResponseCounts } from "./run-traffic.ts";

/**
 * Sends 500 requests over one kept connection, the same for the same seed, and counts the responses.
 * Throws with the seed and the smallest request that gets a wrong response or none.
 */
export async function fuzz(stack: LocalStack, seed: number, counts: ResponseCounts) {
  await resetOrders(stack);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const property = fc.asyncProperty(fuzzRequests(stack.apiKey), async (request) => {
    const response = await send(stack.baseUrl, { ...request, agent });
    const problems = problemsOf(request, response);
    if (problems.length > 0)
      throw new Error(`${problems.join("\n")}: ${response.body.slice(0, 500)}`);
    counts.add(response);
  });
  await fc.assert(property, { numRuns: 500, seed });
  agent.destroy();
}

async function resetOrders({ client, tables }: LocalStack) {
  const { putOrder } = tableWriter(client, tables);
  const orders = fuzzedIds.map((id, index) => ({
    id: { N: id },
    status: { S: index % 10 ? "pending" : "shipped" },
  }));
  await Promise.all(orders.map(putOrder));
}

function problemsOf({ method, target, hasKey }: FuzzRequest, response: HttpResponse) {
  const { status, headers } = response;
  // The request line may name a host.
  const path = target.replace("http://elsewhere", "").replace(/^\/v1/, "");
  const problems = responseProblems({ ...response, method, path });
  if (status < 300 && !hasKey) problems.push("let in without a key");
  if (Object.values(headers).some((value) => value?.includes(marker)))
    problems.push("echoes its request in a header");
  if (!/^[\w-]{1,128}$/.test(`${headers["x-amzn-requestid"]}`))
    problems.push("has no request id, or a bad one");
  return problems;
}
