import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";

/** Standard input. On a terminal, says how to end it. */
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
  // Before the question: until it has the terminal, the terminal shows what is typed. Without an
  // output, it shows nothing itself.
  using terminal = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(question);
  const secret = await terminal.question("").finally(() => process.stderr.write("\n"));
  return secret.trim();
}
