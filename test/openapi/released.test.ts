import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };

const released = readFileSync("test/openapi/released.yaml", "utf8");
const current = readFileSync("shared/openapi.yaml", "utf8");

/** Only an Error has a code. */
type Example = { value?: { code?: string } };

/** A line for everything in a part of a document that clients may rely on. */
function promises(part: unknown, at = ""): string[] {
  if (typeof part !== "object" || part === null) return [`${at} ${part}`];
  return Object.entries(part).flatMap(([key, inner]) => {
    if (["description", "summary", "tags", "x-extensible-enum"].includes(key)) return [];
    if (key === "examples")
      return Object.values<Example>(inner).flatMap(({ value }) =>
        value?.code === undefined ? [] : [`${at} code ${value.code}`],
      );
    // A place in a list means nothing: parameters have names.
    return promises(inner, `${at} ${Array.isArray(part) ? (inner.name ?? "") : key}`);
  });
}

/** The promises of a document, with everything it refers to in place. */
function promisesOf(document: string) {
  const resolved = new Validator().resolveRefs({ specification: parse(document) });
  return promises(resolved["paths"]);
}

const promised = promisesOf(released);

/** What clients of the released document can't rely on any more; a major version may break all. */
function incompatibilities(document: string) {
  if (majorVersion(document) !== majorVersion(released)) return [];
  const kept = promisesOf(document);
  const broken = promised.filter((line) => !kept.includes(line));
  const required = kept.filter((line) => !promised.includes(line) && isRequirement(line));
  return [
    ...broken.map((line) => `no longer:${line}`),
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

test("the document keeps every promise of the released one", () => {
  expect(incompatibilities(current)).toEqual([]);
});

/** The sentences of the released document that were replaced since, and what they are now. */
const reworded = {
  "paths /store/orders get responses 200 headers Vary The list is compressed when the request accepts gzip, unless its first page, read from up to 1 MB of stored orders, has fewer than 1,400 characters.":
    "paths /store/orders get responses 200 headers Vary The list is compressed when the request accepts gzip.",
};

/** What a document tells people, by sentence, each after its place. */
function sentences(part: unknown, at = ""): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, inner]) =>
    typeof inner === "string" && ["description", "summary", "default"].includes(key)
      ? inner
          .split(/(?<=[.:])\s+/)
          .map((text) => `${at}${text.trim().replaceAll(/\s+/g, " ")}`)
      : sentences(inner, `${at}${key} `),
  );
}

test("the document says what the released one does, in the same words", () => {
  const said = sentences(parse(current));
  const kept = sentences(parse(released)).filter((sentence) => !(sentence in reworded));
  const missing = [...kept, ...Object.values(reworded)].filter(
    (text) => !said.includes(text),
  );
  expect(missing).toEqual([]);
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
