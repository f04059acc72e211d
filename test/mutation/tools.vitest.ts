import { defineConfig } from "vitest/config";
import { testEnvironment } from "../helpers/test-environment.ts";

/** The tests that run the tools in their own process, where a mutant can be switched on. */
export default defineConfig({
  test: {
    globalSetup: "test/helpers/assembly.ts",
    include: [
      // Processes of their own can't run mutants.
      "test/tools/{admin,orders-file,smoke,terminal}/!(process).test.ts",
      "test/tools/local/{authorizer,gateway,ready-text,tables,template/*}.test.ts",
      "test/http/gateway.test.ts",
    ],
    env: { ...testEnvironment, DYNAMODB_ENDPOINT: "" },
    experimental: { viteModuleRunner: false },
    maxConcurrency: 16,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: "test/helpers/each-file.ts",
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
