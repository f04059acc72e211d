import type { Environment } from "../../infra/stack/settings.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

// The rehearsal's infra/environments.ts: a company's own may be pinned to its account.

export type { Environment };

const staging: Environment = {
  ...noOption,
  name: "staging",
  stackName: "Rehearsal-staging",
  apiKeyPrefix: "rehearsal_test",
};

const production: Environment = {
  ...noOption,
  name: "production",
  stackName: "Rehearsal-production",
  apiKeyPrefix: "rehearsal_live",
  keepData: true,
  dashboard: true,
  alarms: everyOption.alarms,
};

export const environments = { staging, production };

export type EnvironmentName = keyof typeof environments;
