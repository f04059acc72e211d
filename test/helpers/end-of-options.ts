import { vi } from "vitest";

/**
 * Parses options that end the process, in this one, and returns the exit code and the output it
 * would end with. Much faster than starting another.
 *
 * @throws whatever `read` throws without having ended the process.
 */
export function endOf(read: (argv: string[]) => unknown, options: string[]) {
  const end: { code: unknown; stdout: string; stderr: string } = {
    code: undefined,
    stdout: "",
    stderr: "",
  };
  const capture = (stream: "stdout" | "stderr") =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      end[stream] += text;
      return true;
    });
  const ended = new Error("The process has ended");
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    end.code = code;
    throw ended;
  });
  const spies = [capture("stdout"), capture("stderr"), exit];
  try {
    read(["node", "command", ...options]);
    throw new Error("The options did not end the process");
  } catch (error) {
    if (error !== ended) throw error;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return end;
}
