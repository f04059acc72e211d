import type { Stage as ApiStage } from "aws-cdk-lib/aws-apigateway";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Stack } from "aws-cdk-lib/core";

/**
 * The stack of one environment, as `infra/own.ts` sees it. Newer versions may add to it, but never
 * change or remove what is here.
 */
export interface ServiceStack extends Stack {
  /** The environment's name, such as `staging`. */
  readonly environmentName: string;
  /** Whether the environment keeps its data. Then a table must be protected, or synthesis stops. */
  readonly keepData: boolean;
  /** The table of orders. */
  readonly ordersTable: Table;
  /** The table of keys. */
  readonly apiKeysTable: Table;
  /** The stage of the API, for a web ACL's association. */
  readonly stage: ApiStage;
  /** The topic that the stack's alarms notify; undefined without `alarms`. */
  readonly alarmsTopic: ITopic | undefined;
}
