import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, test } from "vitest";
import config from "../../vitest.config.ts";

test("npm test runs every test file once, and passes over none", () => {
  const sets = config.test?.projects?.map((set) =>
    typeof set === "object" && "test" in set ? set.test : undefined,
  );
  const matches = (file: string, patterns: string[] = []) =>
    patterns.some((pattern) => matchesGlob(file, pattern));
  const runs = globSync("test/**/*.test.ts").map((file) => {
    const names = sets?.filter(
      (set) => matches(file, set?.include) && !matches(file, set?.exclude),
    );
    return [file, names?.length];
  });
  expect(runs.length).toBeGreaterThan(0);
  expect(runs.filter(([, times]) => times !== 1)).toEqual([]);
});
