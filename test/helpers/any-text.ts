import fc from "fast-check";

/** Text of any characters, beyond the 16-bit ones too; `unit: "binary"` makes a map of a million of them first. */
export function anyText(length: { minLength?: number; maxLength: number }): fc.Arbitrary<string> {
  const unit = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code).toWellFormed());
  return fc.string({ unit, ...length });
}
