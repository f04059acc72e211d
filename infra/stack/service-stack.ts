/** The stack of one environment, by the name under which `infra/own.ts` of any version knows it. */
export type { OrdersStack as ServiceStack } from "./orders-stack.ts";
