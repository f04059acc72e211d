import { getBorderCharacters, table } from "table";

/** Control, formatting (text direction too), line-separating and lone surrogate characters: what can steer a terminal. */
const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The text with everything that could steer a terminal written out, as `\u{1b}`. For one line: it ends up without breaks. */
export function printable(text: string): string {
  return text.replace(steering, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The text without what looks like an API key: some end up as arguments where an id belongs, and so in errors. */
export function withoutKeys(text: string): string {
  return text.replace(/(pets_(?:test|live)_)[0-9A-Za-z]+/g, "$1...");
}

declare global {
  interface JSON {
    // In Node since 22, not yet in TypeScript's library.
    rawJSON(text: string): object;
  }
}

/** The value as JSON that is equally safe to look at; it still parses to the same value. A bigint is a number, exactly. */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value, (_name, each: unknown) =>
    typeof each === "bigint" ? JSON.rawJSON(each.toString()) : each,
  );
  return json.replace(steering, jsonEscape);
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
  const text = table(
    rows.map((row) => row.map(printable)),
    {
      border: getBorderCharacters("void"),
      columnDefault: { paddingLeft: 0, paddingRight: 2 },
      drawHorizontalLine: () => false,
    },
  );
  return text.replace(/ +$/gm, "").trimEnd();
}

/** A moment, in epoch seconds, as ISO 8601 in UTC. */
export function isoTime(epochSeconds: number): string {
  const time = new Date(epochSeconds * 1000);
  // Nobody keeps a table's numbers within what a date can say.
  return Number.isNaN(time.getTime()) ? `${epochSeconds} s after 1970` : time.toISOString().replace(".000Z", "Z");
}
