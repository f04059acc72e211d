import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { getBorderCharacters, table } from "table";
import { printable } from "../terminal/printable.ts";

/** Rows of untrusted texts as aligned columns, without a trailing line break. */
export function columns(rows: string[][]): string {
  const aligned = table(
    rows.map((row) => row.map(printable)),
    {
      border: getBorderCharacters("void"),
      columnDefault: { paddingLeft: 0, paddingRight: 2 },
      drawHorizontalLine: () => false,
    },
  );
  return aligned.replace(/ +$/gm, "").trimEnd();
}

/** A time in epoch seconds as ISO 8601 in UTC. */
export function isoTime(epochSeconds: number): string {
  const time = new Date(epochSeconds * 1000);
  // A damaged record can hold a number that isn't a valid time.
  return Number.isNaN(time.getTime())
    ? `${epochSeconds} s after 1970`
    : time.toISOString().replace(".000Z", "Z");
}

/** `1 order`, `2 orders`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

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
