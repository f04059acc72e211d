import type { ServiceStack } from "./stack/service-stack.ts";

/**
 * Adds parts of your own to the stack of each environment, such as a table, a web ACL or an alarm.
 * Taking over a newer version of the service leaves this file alone. See infra/README.md, "Parts of
 * your own".
 */
export function addOwnParts(_stack: ServiceStack): void {}
