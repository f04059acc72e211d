import { expect, test } from "vitest";
import { Script } from "../../../infra/tools/terminal/script.ts";

test.each([
  ["--wrong", 2],
  ["--help", 0],
])("a script that is called with %s exits with %i", (word, code) => {
  const print = () => {};
  const script = new Script("npm run it").configureOutput({
    writeErr: print,
    writeOut: print,
  });
  const exit = `process.exit unexpectedly called with "${code}"`;
  expect(() => script.parse([word], { from: "user" })).toThrow(exit);
});
