import type { ServiceStack } from "./stack/service-stack.ts";

/**
 * Adds parts of your own to the stack of each environment, such as a table, a web ACL or an alarm:
 *
 *     if (stack.alarmsTopic) alarm.addAlarmAction(new SnsAction(stack.alarmsTopic));
 *
 * Newer versions of the service leave this file alone.
 */
export function addOwnParts(_stack: ServiceStack): void {}
