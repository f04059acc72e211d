import { defineConfig } from "vitest/config";

const every = {
  // What the stack sets on the functions, for tests that import a handler.
  env: { ORDERS_TABLE: "orders", API_KEYS_TABLE: "api-keys", AWS_REGION: "eu-central-1" },
  // Tests that run at once mostly wait, for the time limits of what they test.
  maxConcurrency: 16,
  testTimeout: 30_000,
  hookTimeout: 30_000,
  unstubEnvs: true,
  unstubGlobals: true,
};

export default defineConfig({
  test: {
    globalSetup: "test/helpers/assembly.ts",
    // Most test files wait for processes and time limits more than they compute.
    maxWorkers: 3,
    projects: [
      { test: { ...every, name: "service", include: ["test/**/*.test.ts"], exclude: ["test/infra/**"] } },
      // These only read templates, and loading CDK takes longer than all of them: once is enough.
      { test: { ...every, name: "infra", include: ["test/infra/**/*.test.ts"], isolate: false } },
    ],
  },
});
