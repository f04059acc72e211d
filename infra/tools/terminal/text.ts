import { isDateTime } from "../../../shared/order.ts";

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

/** The text on its lines, just as safe to print. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
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
  const escaped = (unit: string) =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(controls, (character) => character.replace(/./gs, escaped));
}

/** A number as people read it: `50,000`. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 order`, `50,000 orders`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `2 written, 1 already there`, of counts by their names. */
export function countsText(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(
    ([name, count]) => `${grouped(count)} ${words(name)}`,
  );
  return parts.join(", ");
}

/** `already there`, of `alreadyThere` or `already_there`. */
export function words(name: string): string {
  return name.replace(/_|(?=[A-Z])/g, " ").toLowerCase();
}

/** A time in epoch seconds as ISO 8601 in UTC. */
export function isoTime(epochSeconds: number): string {
  const time = new Date(epochSeconds * 1000);
  // A damaged record can hold a number that isn't a valid time.
  return Number.isNaN(time.getTime())
    ? `${epochSeconds} s after 1970`
    : time.toISOString().replace(".000Z", "Z");
}

/**
 * A hint for a date-time that ISO 8601 allows, but not RFC 3339, which we read: it says what the text
 * lacks and how to write it. Undefined for any other text.
 */
export function dateTimeHint(text: string): string | undefined {
  const withSeconds = text.replace(/(T\d\d:\d\d)(?=$|Z|[+-])/, "$1:00");
  const whole = [withSeconds, `${withSeconds}Z`].find(isDateTime);
  if (whole === undefined || whole === text) return undefined;
  const missing = [
    withSeconds !== text && "seconds",
    whole !== withSeconds && "a time zone",
  ];
  return `lacks ${missing.filter(Boolean).join(" and ")}: write ${whole}`;
}
