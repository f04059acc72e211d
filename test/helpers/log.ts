import { beforeEach, vi } from "vitest";

/** The log of the functions, kept off the console, and empty before each test. */
export function spyOnLog() {
  const log = {
    info: vi.spyOn(console, "info").mockReturnValue(),
    warn: vi.spyOn(console, "warn").mockReturnValue(),
    error: vi.spyOn(console, "error").mockReturnValue(),
  };
  beforeEach(() => {
    for (const spy of Object.values(log)) spy.mockClear();
  });
  return log;
}
