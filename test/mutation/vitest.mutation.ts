import { defineConfig } from "vitest/config";
import { testEnvironment } from "../helpers/test-environment.ts";

/** The tests that run deployed code in their own process, where a mutant can be switched on. */
export default defineConfig({
  test: {
    include: ["test/unit/**/*.test.ts", "test/integration/**/*.test.ts"],
    env: { ...testEnvironment, DYNAMODB_ENDPOINT: "" },
    experimental: { viteModuleRunner: false },
    setupFiles: "test/helpers/each-file.ts",
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
