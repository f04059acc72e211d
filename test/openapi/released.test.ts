import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };

const released = readFileSync("test/openapi/released.yaml", "utf8");
const current = readFileSync("shared/openapi.yaml", "utf8");

/** The sentences of the released document that were replaced since, and what they are now. */
const reworded = {
  "paths /store/orders get responses 200 headers Vary The list is compressed when the request accepts gzip, unless its first page, read from up to 1 MB of stored orders, has fewer than 1,400 characters.":
    "paths /store/orders get responses 200 headers Vary The list is compressed when the request accepts gzip.",
};

const isText = (key: string, value: unknown): value is string =>
  typeof value === "string" &&
  ["description", "summary", "message", "default", "url"].includes(key);

/** The sentences for people in a document, each after its place. */
function sentences(part: unknown, at = ""): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, inner]) =>
    isText(key, inner)
      ? inner
          .split(/(?<=[.:])\s+/)
          .map((text) => `${at}${text.trim().replaceAll(/\s+/g, " ")}`)
      : sentences(inner, `${at}${key} `),
  );
}

/** A line for everything in a part of a document that programs may rely on. */
function promises(part: unknown, at = ""): string[] {
  if (typeof part !== "object" || part === null) return [`${at} ${part}`];
  return Object.entries(part).flatMap(([key, inner]) =>
    isText(key, inner) || ["examples", "tags", "x-extensible-enum"].includes(key)
      ? []
      : // A place in a list means nothing: parameters have names.
        promises(inner, `${at} ${Array.isArray(part) ? (inner.name ?? "") : key}`),
  );
}

/** The promises of a document, with everything it refers to in place, and its sentences. */
function promisesOf(document: string) {
  const resolved = new Validator().resolveRefs({ specification: parse(document) });
  return [...promises(resolved["paths"]), ...sentences(parse(document))];
}

const promised = promisesOf(released).filter((line) => !(line in reworded));

/** What clients of the released document can't rely on any more; a major version may break all. */
function incompatibilities(document: string) {
  if (majorVersion(document) !== majorVersion(released)) return [];
  const kept = promisesOf(document);
  const expected = [...promised, ...Object.values(reworded)];
  const broken = expected.filter((line) => !kept.includes(line));
  const required = kept.filter((line) => !promised.includes(line) && isRequirement(line));
  return [
    ...broken.map((line) => `no longer: ${line}`),
    ...required.map((line) => `new:${line}`),
  ];
}

function majorVersion(document: string) {
  return parse(document).info.version.split(".")[0];
}

/** A new operation may require what it likes. */
function isRequirement(line: string) {
  const operation = /^ (\S+ \w+) (parameters|requestBody) .*required/.exec(line)?.[1];
  return (
    operation !== undefined &&
    promised.some((known) => known.startsWith(` ${operation} `))
  );
}

test("the document keeps every promise of the released one, and says it in the same words", () => {
  expect(incompatibilities(current)).toEqual([]);
});

test("the changelog has unreleased entries exactly when the document has changed", () => {
  const changelog = readFileSync("shared/CHANGELOG.md", "utf8");
  const unreleased = /^## Unreleased\n(.*?)(?=^## )/ms.exec(changelog)?.[1] ?? "";
  const hasEntries = /^- /m.test(unreleased);
  expect(hasEntries).toBe(!isDeepStrictEqual(parse(current), parse(released)));
});

test("the document, both changelogs and package.json name one version", () => {
  const versions: unknown[] = [parse(current).info.version];
  for (const folder of ["shared", "infra"]) {
    const changelog = readFileSync(`${folder}/CHANGELOG.md`, "utf8");
    versions.push(/^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/m.exec(changelog)?.[1]);
  }
  expect(versions).toEqual(versions.map(() => packageJson.version));
});
