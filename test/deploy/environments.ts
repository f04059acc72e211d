import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";

const { account: pinned, ...fixture } = everyOption;

/** An environment that keeps its data, and is pinned to no account. */
export const environment: Environment = { ...fixture, name: "kept" };
export const { stackName } = environment;

/** The environments that commands may name in these tests. */
export const environments: Record<string, Environment> = {
  kept: environment,
  loose: { ...environment, name: "loose", keepData: false },
  pinned: { ...environment, name: "pinned", account: pinned },
};

/** A template whose function reads its orders from a table. */
export const templateUsing = (table: string) => ({
  Description: "Pet store orders service, kept",
  Resources: {
    List: {
      Type: "AWS::Lambda::Function",
      Properties: { Environment: { Variables: { ORDERS_TABLE: table } } },
    },
  },
});
