import { afterAll, vi } from "vitest";

// vitest takes stubs back before the next test. In a shared process, what the next file does before its first one, such
// as starting an engine, would still meet them.
afterAll(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
