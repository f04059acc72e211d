import { apiChanges } from "./api.ts";
import { functionsChanges } from "./functions.ts";
import { rolesChanges } from "./roles.ts";
import type { StoppingChange } from "./stopping-change.ts";
import { tablesChanges } from "./tables.ts";
import { watchingChanges } from "./watching.ts";

/** Changes that take away or open up, one by one, what others rely on. */
export const stoppingChanges: StoppingChange[] = [
  ...apiChanges,
  ...functionsChanges,
  ...rolesChanges,
  ...tablesChanges,
  ...watchingChanges,
];
