import { defineConfig } from "vitest/config";

/** The tests that run what is deployed in their own process, where a mutant can be switched on. */
export default defineConfig({
  test: {
    include: ["test/unit/**/*.test.ts", "test/integration/**/*.test.ts"],
    env: { ORDERS_TABLE: "orders", API_KEYS_TABLE: "api-keys", AWS_REGION: "eu-central-1" },
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
