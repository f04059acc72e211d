import { vi } from "vitest";

/**
 * How a command ends that reads these options and finds them wrong, or is asked for help: its exit code and all that it
 * prints. In this process, which takes a fraction of what another one does.
 */
export function endOf(read: (argv: string[]) => unknown, options: string[]): { code: unknown; printed: string } {
  const end: { code: unknown; printed: string } = { code: "it did not end", printed: "" };
  const write = (text: unknown) => {
    end.printed += text;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(write),
    vi.spyOn(process.stderr, "write").mockImplementation(write),
    vi.spyOn(process, "exit").mockImplementation((code) => {
      end.code = code;
      throw new Error("The process has ended");
    }),
  ];
  try {
    read(["node", "command", ...options]);
  } catch (error) {
    if (end.code === "it did not end") throw error;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return end;
}
