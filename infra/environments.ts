import { Duration } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { ApiKeyPrefix } from "../shared/api-keys.ts";

/** Everything in which one deployed environment may differ from another. A difference exists only here. */
export interface Environment {
  name: "staging" | "production";
  apiKeyPrefix: ApiKeyPrefix;
  /** Whether the tables outlive their stack and can be restored to a point in time. */
  keepData: boolean;
  /** How long the gateway remembers an admitted key, and so how long a revoked one may still be admitted. */
  authorizerCacheTtl: Duration;
  /** Requests per second and burst that the stage lets through; beyond it is 429. */
  throttling: { rateLimit: number; burstLimit: number };
  logRetention: RetentionDays;
}

const staging: Environment = {
  name: "staging",
  apiKeyPrefix: "pets_test",
  keepData: false,
  authorizerCacheTtl: Duration.seconds(10),
  throttling: { rateLimit: 20, burstLimit: 40 },
  logRetention: RetentionDays.TWO_WEEKS,
};

const production: Environment = {
  name: "production",
  apiKeyPrefix: "pets_live",
  keepData: true,
  authorizerCacheTtl: Duration.minutes(1),
  throttling: { rateLimit: 200, burstLimit: 400 },
  logRetention: RetentionDays.ONE_YEAR,
};

export const environments = { staging, production };
