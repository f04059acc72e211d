import { defineConfig } from "vitest/config";
import { testEnvironment } from "./test/helpers/test-environment.ts";

const common = {
  env: testEnvironment,
  // Concurrent tests mostly wait for the time limits of what they test.
  maxConcurrency: 16,
  // Bounds for what hangs, far above what anything takes on a busy machine.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  unstubEnvs: true,
  unstubGlobals: true,
};

export default defineConfig({
  test: {
    globalSetup: "test/helpers/assembly.ts",
    // Most test files wait for processes and time limits more than they compute.
    maxWorkers: 4,
    projects: [
      { test: { ...common, name: "service", include: ["test/**/*.test.ts"], exclude: ["test/infra/**"] } },
      // These only read templates, and loading CDK takes longer than all of them, so it is loaded once.
      { test: { ...common, name: "infra", include: ["test/infra/**/*.test.ts"], isolate: false } },
    ],
  },
});
