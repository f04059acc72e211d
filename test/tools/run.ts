import { Readable } from "node:stream";
import { vi } from "vitest";
import { createProgram } from "../../infra/tools/petstore.ts";
import { wordsOf } from "./admin/transcript.ts";

export type Stream = "stdout" | "stderr";

export interface Ended {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

// A command never removes its listeners: its process ends.
process.setMaxListeners(0);
process.stdout.setMaxListeners(0);

/** Runs a command in this process: a fraction of the time. */
export async function run(
  command: string,
  input = "",
  terminals: (Stream | "stdin")[] = [],
): Promise<Ended> {
  using replaced = new DisposableStack();
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    process[name].isTTY = terminals.includes(name);
    const write = replaced.use(vi.spyOn(process[name], "write"));
    write.mockImplementation((text, ...rest) => {
      printed[name] += text;
      const written = rest.at(-1);
      if (typeof written === "function") written();
      return true;
    });
  }
  const stdin = Object.assign(Readable.from([Buffer.from(input)]), {
    isTTY: terminals.includes("stdin"),
  });
  replaced.use(vi.spyOn(process, "stdin", "get")).mockReturnValue(stdin as never);
  const { exitCode } = process;
  process.exitCode = 0;
  try {
    await createProgram().run(wordsOf(command));
    return { code: Number(process.exitCode), ...printed };
  } finally {
    process.exitCode = exitCode;
  }
}
