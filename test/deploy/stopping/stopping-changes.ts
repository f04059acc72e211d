import { apiChanges } from "./api.ts";
import type { StoppingChange } from "./change.ts";
import { functionsChanges } from "./functions.ts";
import { rolesChanges } from "./roles.ts";
import { tablesChanges } from "./tables.ts";
import { watchingChanges } from "./watching.ts";

/** Every change that must stop a deployment, each on its own. */
export const stoppingChanges: StoppingChange[] = [
  ...apiChanges,
  ...functionsChanges,
  ...rolesChanges,
  ...tablesChanges,
  ...watchingChanges,
];
