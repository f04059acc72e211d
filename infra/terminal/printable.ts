/**
 * Characters that can control a terminal: control, format (text direction too), line separators,
 * lone surrogates. Joiners and the tags of flags are format characters, too, but only shape the
 * letters and emoji beside them.
 */
const controls =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}[\p{Cf}--[\u200c\u200d\u{e0020}-\u{e007f}]]]/gv;

/**
 * The text on one line, safe to print: whatever could control a terminal is escaped, as `\u{1b}`.
 */
export function printable(text: string): string {
  return text.replace(
    controls,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

declare global {
  interface JSON {
    // In Node since 22, not yet in TypeScript's library. It keeps digits that a number loses.
    rawJSON(text: string): unknown;
  }
}

/**
 * The value as JSON that is just as safe to print and parses to the same value. A bigint becomes an
 * exact number.
 */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "bigint" ? JSON.rawJSON(member.toString()) : member,
  );
  const escaped = (unit: string): string =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(controls, (character) => character.split("").map(escaped).join(""));
}
