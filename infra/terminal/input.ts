import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";

/** Standard input. Who types it is told how to end it. */
export function standardInput(): NodeJS.ReadStream {
  if (process.stdin.isTTY) process.stderr.write("Reading standard input, up to Ctrl-D\n");
  return process.stdin;
}

/**
 * Reads a secret from standard input, trimmed. On a terminal it asks for one line and does not echo
 * it.
 */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  // It takes over the terminal, which until then shows what is typed, and has no output of its own.
  using terminal = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(question);
  const secret = await terminal.question("").finally(() => process.stderr.write("\n"));
  return secret.trim();
}
