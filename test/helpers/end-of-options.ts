import { expect, vi } from "vitest";

/** Parses options that end a process, in this one. Returns its exit code and its output. */
export function endOf(read: (argv: string[]) => unknown, options: string[]) {
  const end = { code: undefined as unknown, stdout: "", stderr: "" };
  const outputs = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      end[stream] += text;
      return true;
    }),
  );
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    end.code = code;
    throw new Error("The process has ended");
  });
  try {
    expect(() => read(["node", "command", ...options])).toThrow("The process has ended");
  } finally {
    for (const spy of [...outputs, exit]) spy.mockRestore();
  }
  return end;
}
