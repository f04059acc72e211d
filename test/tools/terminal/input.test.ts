import { Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { confirm } from "../../../infra/tools/terminal/input.ts";

test.each([
  ["y", true],
  [" YES ", true],
  ["", false],
  ["n", false],
  ["yikes", false],
])("only y or yes lets a command go on: %j", async (reply, goesOn) => {
  onTestFinished(() => void vi.restoreAllMocks());
  const stdin = Readable.from([`${reply}\n`]);
  vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as typeof process.stdin);
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(await confirm("This deletes it.")).toBe(goesOn);
  expect(write.mock.calls.join("")).toContain("This deletes it. Go on? [y/N] ");
});
