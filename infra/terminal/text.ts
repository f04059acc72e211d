import { getBorderCharacters, table } from "table";
import { words } from "./counted.ts";
import { printable } from "./printable.ts";

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

/** The header of a column, by the name of the field it shows: `KEY ID` for `keyId`. */
export function header(field: string): string {
  return words(field).toUpperCase();
}

/** A time in epoch seconds as ISO 8601 in UTC. */
export function isoTime(epochSeconds: number): string {
  const time = new Date(epochSeconds * 1000);
  // A damaged record can hold a number that isn't a valid time.
  return Number.isNaN(time.getTime())
    ? `${epochSeconds} s after 1970`
    : time.toISOString().replace(".000Z", "Z");
}
