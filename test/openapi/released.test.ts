import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { parse, parseDocument } from "yaml";
import packageJson from "../../package.json" with { type: "json" };

const released = readFileSync("test/openapi/released.yaml", "utf8");
const current = readFileSync("shared/openapi.yaml", "utf8");

/** A line for everything in a part of a document that clients may rely on. */
function promises(part: unknown, at = ""): string[] {
  if (typeof part !== "object" || part === null) return [`${at} ${part}`];
  return Object.entries(part).flatMap(([key, inner]) => {
    if (["description", "summary", "tags", "x-extensible-enum"].includes(key)) return [];
    if (key === "examples")
      return Object.values(inner).flatMap((example) => codeOf(example, at));
    // A place in a list means nothing: parameters have names.
    return promises(inner, `${at} ${Array.isArray(part) ? (inner.name ?? "") : key}`);
  });
}

function codeOf(example: unknown, at: string) {
  const { code } = Object(Object(example).value);
  return code === undefined ? [] : [`${at} code ${code}`];
}

/** The promises of a document, with everything it refers to in place. */
function promisesOf(document: string) {
  const resolved = new Validator().resolveRefs({ specification: parse(document) });
  return promises(Object(resolved).paths);
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

type Edits = [path: string, value?: unknown][];

function changed(edits: Edits) {
  const document = parseDocument(released);
  for (const [path, value] of edits) {
    const keys = path.split(" ");
    if (value === undefined) document.deleteIn(keys);
    else document.setIn(keys, value);
  }
  return incompatibilities(document.toString()).join("\n");
}

const fields = "components schemas Order properties";
const responses = "components responses";
const list = "paths /store/orders get";
const page = { name: "page", in: "query", required: true, schema: { type: "string" } };

test("what breaks a promise is found", () => {
  const edits: Edits = [
    [`${fields} quantity type`, "string"],
    [`${responses} NotPending content application/json examples order_not_pending`],
    [`${responses} Unauthorized headers WWW-Authenticate required`],
    [`${list} parameters`, [page]],
  ];
  expect(changed(edits)).toMatchInlineSnapshot(`
    "no longer: /store/orders get responses 200 content application/json schema items properties quantity type integer
    no longer: /store/orders get responses 401 headers WWW-Authenticate required true
    no longer: /store/orders/{orderId} delete responses 401 headers WWW-Authenticate required true
    no longer: /store/orders/{orderId} delete responses 409 content application/json code order_not_pending
    new: /store/orders get parameters page required true"
  `);
  expect(changed([[list]])).toContain(
    "no longer: /store/orders get operationId listOrders",
  );
});
