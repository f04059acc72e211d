import { getBorderCharacters, table } from "table";
import { printable, words } from "./text.ts";

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
