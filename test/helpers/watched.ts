import { vi } from "vitest";

/** Runs something, and gives the lines that it prints and its exit code. */
export async function watched(run: () => void | Promise<void>) {
  const { exitCode } = process;
  const print = vi.spyOn(console, "log").mockReturnValue();
  const complain = vi.spyOn(console, "error").mockReturnValue();
  try {
    process.exitCode = 0;
    await run();
    return {
      printed: [...print.mock.calls, ...complain.mock.calls].flat(),
      exitCode: process.exitCode,
    };
  } finally {
    process.exitCode = exitCode;
    print.mockRestore();
    complain.mockRestore();
  }
}
