import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { getBorderCharacters, table } from "table";

/** Characters that can control a terminal: control, format (text direction too), line separators, lone surrogates. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The text on one line, safe to print: whatever could control a terminal is escaped, as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(controls, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

declare global {
  interface JSON {
    // In Node since 22, not yet in TypeScript's library.
    rawJSON(text: string): object;
  }
}

/** The value as JSON that is just as safe to print and parses to the same value. A bigint becomes an exact number. */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "bigint" ? JSON.rawJSON(member.toString()) : member,
  );
  return json.replace(controls, jsonEscape);
}

function jsonEscape(character: string): string {
  let escaped = "";
  for (let at = 0; at < character.length; at++) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}

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
  return Number.isNaN(time.getTime()) ? `${epochSeconds} s after 1970` : time.toISOString().replace(".000Z", "Z");
}

/** `1 order`, `2 orders`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Reads a secret from standard input, trimmed. On a terminal it asks for one line and does not echo it. */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  process.stderr.write(question);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: hidden, terminal: true });
  try {
    return (await terminal.question("")).trim();
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
