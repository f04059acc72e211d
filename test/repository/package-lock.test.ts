import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { captured } from "./pages.ts";

interface Entry {
  version: string;
  integrity?: string;
  inBundle?: true;
  optionalDependencies?: Record<string, string>;
}

const { packages }: { packages: Record<string, Entry> } = JSON.parse(
  await readFile("package-lock.json", "utf8"),
);

test("every optional dependency of a tool is locked, for every platform", () => {
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.entries(optionalDependencies),
  );
  const isLocked = (name: string, range: string) =>
    Object.entries(packages).some(
      ([path, { version }]) =>
        path.endsWith(`node_modules/${name}`) &&
        (version === range || /^[~^]/.test(range)),
    );
  expect(wanted.filter(([name, range]) => !isLocked(name, range))).toEqual([]);
});

test("SECURITY.md names every package without a hash", async () => {
  const security = await readFile(".github/SECURITY.md", "utf8");
  const named = captured(security, /^- `(.*?)`$/gm);
  const withoutHash = Object.entries(packages).filter(
    ([path, { integrity, inBundle }]) => path && !integrity && !inBundle,
  );
  expect(named).toEqual(withoutHash.map(([path]) => path.replace("node_modules/", "")));
});
