import { expect, test } from "vitest";
import { dateTimeHint } from "../../infra/terminal/date-time.ts";

test.each([
  ["2027-12-31T12:00Z", "lacks seconds: write 2027-12-31T12:00:00Z"],
  ["2027-12-31T12:00+05:30", "lacks seconds: write 2027-12-31T12:00:00+05:30"],
  ["2027-12-31T12:00:05", "lacks a time zone: write 2027-12-31T12:00:05Z"],
  ["2027-12-31T12:00", "lacks seconds and a time zone: write 2027-12-31T12:00:00Z"],
  ["2027-12-31T12:00:00Z", undefined],
  ["2027-02-30T12:00Z", undefined],
  ["2027-12-31", undefined],
  ["soon", undefined],
])("%j %s", (text, hint) => {
  expect(dateTimeHint(text)).toBe(hint);
});
