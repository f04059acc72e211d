import { type Environment, environments } from "../../infra/environments.ts";

/** A domain of one's own. */
export const domain = {
  name: "orders.example.com",
  certificateArn: "arn:aws:acm:eu-central-1:111111111111:certificate/5d1e7d58-1a2b-4c3d-8e4f-000000000000",
  hostedZone: { id: "Z0000000000000000000", name: "example.com" },
  keepGatewayAddress: false,
} as const;

/** Production with every option. */
export const everyOption: Environment = {
  ...environments.production,
  account: { id: "111111111111", region: "eu-central-1" },
  domain,
  restoredTables: {
    orders: "orders-of-yesterday",
    apiKeys: "keys-of-yesterday",
    ordersStreamArn: "arn:aws:dynamodb:eu-central-1:111111111111:table/orders-of-yesterday/stream/2026-11-20",
  },
  formerTables: { orders: "orders-of-last-week", apiKeys: "keys-of-last-week" },
  ordersStream: true,
  listConcurrency: 20,
  dashboard: true,
  alarms: { ...requireAlarms(environments.production), email: "on-call@example.com" },
};

export function requireAlarms({ alarms }: Environment) {
  if (alarms === undefined) throw new Error("production has no alarms");
  return alarms;
}
