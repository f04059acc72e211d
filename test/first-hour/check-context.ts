import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type CheckContext, type Checks, runChecks } from "../../infra/first-hour/run-checks.ts";
import type { Endpoint } from "../../infra/smoke/client.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

/**
 * A context for a service on this machine, with the resources that the checks look for, and a clock
 * that only pauses move.
 */
export function contextOf({ baseUrl, apiKey }: Endpoint): CheckContext {
  let now = 0;
  const resource = (type: string, id: string) => ({
    ResourceType: `AWS::${type}`,
    LogicalResourceId: `${id}1A2B`,
    PhysicalResourceId: id,
    LastUpdatedTimestamp: new Date(),
    ResourceStatus: "CREATE_COMPLETE" as const,
  });
  return {
    baseUrl,
    apiKey,
    environment: {
      ...noOption,
      throttling: { ...noOption.throttling, cancelOrder: { rateLimit: 1, burstLimit: 3 } },
    },
    ordersTable: "Orders",
    apiKeysTable: "ApiKeys",
    client: new DynamoDBClient(),
    resources: [
      resource("IAM::Role", "ListOrdersRole"),
      resource("Lambda::Function", "CancelOrder"),
      resource("Logs::LogGroup", "ListOrdersLog"),
      resource("Logs::LogGroup", "ApiExecutionLog"),
    ],
    root: "",
    alarmsOf: everyOption.name,
    clock: {
      now: () => now,
      pause: async (milliseconds) => {
        now += milliseconds;
      },
    },
    interrupted: new AbortController().signal,
    changes: [],
  };
}

/** Runs the check whose name contains this, and returns its lines. */
export async function runCheck(
  checks: Checks,
  partOfName: string,
  context: CheckContext,
): Promise<string[]> {
  const chosen = Object.entries(checks).filter(([name]) => name.includes(partOfName));
  const lines = await Array.fromAsync(runChecks(Object.fromEntries(chosen), context));
  return lines.map(({ kind, text }) => `${kind} ${text}`);
}
