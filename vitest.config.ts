import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/assembly.ts",
    // What the stack sets on the functions, for tests that import a handler.
    env: { ORDERS_TABLE: "orders", API_KEYS_TABLE: "api-keys", AWS_REGION: "eu-central-1" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
