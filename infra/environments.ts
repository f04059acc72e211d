import type { ApiKeyPrefix } from "../shared/api-keys.ts";

/** Everything in which one deployed environment may differ from another. A difference exists only here. */
export interface Environment {
  name: "staging" | "production";
  apiKeyPrefix: ApiKeyPrefix;
  /** Whether the tables outlive their stack and can be restored to a point in time. */
  keepData: boolean;
  /** Seconds that the gateway remembers an admitted key, and so that a revoked one may still be admitted. */
  authorizerCacheSeconds: number;
  /** Requests per second and burst that the stage lets through; beyond it is 429. */
  throttling: { rateLimit: number; burstLimit: number };
  logRetentionDays: 14 | 365;
}

const staging: Environment = {
  name: "staging",
  apiKeyPrefix: "pets_test",
  keepData: false,
  authorizerCacheSeconds: 10,
  throttling: { rateLimit: 20, burstLimit: 40 },
  logRetentionDays: 14,
};

const production: Environment = {
  name: "production",
  apiKeyPrefix: "pets_live",
  keepData: true,
  authorizerCacheSeconds: 60,
  throttling: { rateLimit: 200, burstLimit: 400 },
  logRetentionDays: 365,
};

export const environments = { staging, production };
