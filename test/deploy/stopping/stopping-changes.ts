import { apiChanges } from "./api.ts";
import { functionsChanges } from "./functions.ts";
import { rolesChanges } from "./roles.ts";
import type { StoppingChange } from "./stopping-change.ts";
import { tablesChanges } from "./tables.ts";
import { watchingChanges } from "./watching.ts";

/** What other teams, clients and operators rely on, taken away or opened up, one by one. */
export const stoppingChanges: StoppingChange[] = [
  ...apiChanges,
  ...functionsChanges,
  ...rolesChanges,
  ...tablesChanges,
  ...watchingChanges,
];
