import { vi } from "vitest";

/**
 * Parses options in this process, and returns how it would end: its exit code and output. Much
 * faster than a start.
 */
export function endOf(read: (argv: string[]) => unknown, options: string[]) {
  const end: { code: unknown; stdout: string; stderr: string } = {
    code: "it did not end",
    stdout: "",
    stderr: "",
  };
  const into = (stream: "stdout" | "stderr") =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      end[stream] += text;
      return true;
    });
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    end.code = code;
    throw new Error("The process has ended");
  });
  const spies = [into("stdout"), into("stderr"), exit];
  try {
    read(["node", "command", ...options]);
  } catch (error) {
    if (end.code === "it did not end") throw error;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return end;
}
