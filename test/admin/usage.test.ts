import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOperator, type Operator } from "../helpers/admin/admin-process.ts";

let operator: Operator;
beforeAll(async () => {
  operator = await createOperator();
});
afterAll(() => operator.leave());

describe("the command line", () => {
  test.each([
    [["--help"], "keys"],
    [["keys", "issue", "--help"], "--expires"],
    [["orders", "import", "--help"], "--local"],
  ])("explains itself: %j", async (args, word) => {
    const { code, stdout, stderr } = await operator.run(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(word);
  });

  test.each([
    [["keys", "list"], "say where"],
    [["keys", "list", "--env", "qa"], "Allowed choices are staging, production"],
    [["keys", "list", "--env", "staging", "--local"], "cannot be used with"],
    [["keys", "--local"], "Usage: admin keys"],
    [["orders", "nope\u001b[31m", "--local"], "unknown command 'nope\\u{1b}[31m'"],
  ])("takes %j for wrong use", async (args, why) => {
    const { code, stdout, stderr } = await operator.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(why);
  });
});
