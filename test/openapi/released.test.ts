import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { type Document, parse, parseDocument } from "yaml";
import { documentFile } from "../helpers/openapi/document.ts";

const released = await readFile(new URL("released.yaml", import.meta.url), "utf8");
const current = await readFile(documentFile, "utf8");

/** A line for everything in a part of a document that clients may rely on, and where it is. */
function promises(part: unknown, at = ""): string[] {
  if (typeof part !== "object" || part === null) return [`${at} ${part}`];
  return Object.entries(part).flatMap(([key, inner]) => {
    if (["description", "summary", "tags", "x-extensible-enum"].includes(key)) return [];
    if (key === "examples") return Object.values(inner).flatMap((example) => codeOf(example, at));
    // A place in a list means nothing: parameters have names.
    return promises(inner, `${at} ${Array.isArray(part) ? (inner.name ?? "") : key}`);
  });
}

function codeOf(example: unknown, at: string): string[] {
  const { code } = Object(Object(example).value);
  return code === undefined ? [] : [`${at} code ${code}`];
}

const validator = new Validator();

/** The promises of a document, with everything it refers to in place. */
async function promisesOf(document: string): Promise<string[]> {
  await validator.validate(document);
  return promises(Object(validator.resolveRefs()).paths);
}

const promised = await promisesOf(released);

/**
 * A line for everything that clients of the released document can no longer rely on; none in a new
 * major version.
 */
async function incompatibilities(document: string): Promise<string[]> {
  const [before, after] = [parse(released), parse(document)];
  if (before.info.version.split(".")[0] !== after.info.version.split(".")[0]) return [];
  const kept = await promisesOf(document);
  // A new operation may ask for what it likes.
  const asked = /^ (\S+ \w+) (parameters|requestBody) .*required/;
  const isAskedAnew = (line: string) =>
    promised.some((known) => known.startsWith(` ${asked.exec(line)?.[1]} `));
  return [
    ...promised.filter((line) => !kept.includes(line)).map((line) => `no longer:${line}`),
    ...kept
      .filter((line) => !promised.includes(line) && isAskedAnew(line))
      .map((line) => `new:${line}`),
  ];
}

test("the document keeps every promise of the released one", async () => {
  expect(await incompatibilities(current)).toEqual([]);
});

test("the changelog has an entry exactly if the document has changed", async () => {
  const changelog = await readFile(new URL("CHANGELOG.md", documentFile), "utf8");
  const [, unreleased = ""] = /^## Unreleased\n(.*?)(?=^## )/ms.exec(changelog) ?? [];
  expect(/^- /m.test(unreleased)).toBe(!isDeepStrictEqual(parse(current), parse(released)));
});

const list = ["paths", "/store/orders", "get"];
const fields = ["components", "schemas", "Order", "properties"];
const responses = ["components", "responses"];
const page = { name: "page", in: "query", schema: { type: "string" } };
const change = (edit: (document: Document) => void) => {
  const changed = parseDocument(released);
  edit(changed);
  return incompatibilities(changed.toString());
};

test("what breaks a promise is found", async () => {
  const broken = await change((document) => {
    document.setIn([...fields, "quantity", "type"], "string");
    document.deleteIn([...fields, "petId"]);
    document.deleteIn([
      ...responses,
      "NotPending",
      "content",
      "application/json",
      "examples",
      "order_not_pending",
    ]);
    document.deleteIn([...responses, "Unauthorized", "headers", "WWW-Authenticate", "required"]);
    document.setIn([...list, "parameters"], [{ ...page, required: true }]);
  });
  expect(broken).toEqual([
    "no longer: /store/orders get responses 200 content application/json schema items properties petId type integer",
    "no longer: /store/orders get responses 200 content application/json schema items properties petId format int64",
    "no longer: /store/orders get responses 200 content application/json schema items properties quantity type integer",
    "no longer: /store/orders get responses 401 headers WWW-Authenticate required true",
    "no longer: /store/orders/{orderId} delete responses 401 headers WWW-Authenticate required true",
    "no longer: /store/orders/{orderId} delete responses 409 content application/json code order_not_pending",
    "new: /store/orders get parameters page required true",
  ]);
  expect(await change((document) => document.deleteIn(list))).toContain(
    "no longer: /store/orders get operationId listOrders",
  );
});

test("what adds to the promises breaks none", async () => {
  const added = await change((document) => {
    const required = { name: "petId", in: "path", required: true, schema: { type: "string" } };
    document.setIn(["paths", "/pets/{petId}"], { get: { parameters: [required], responses: {} } });
    document.setIn([...fields, "gift"], { type: "boolean" });
    document.setIn([...list, "parameters"], [page]);
  });
  expect(added).toEqual([]);
});

test("a new major version breaks no promise", async () => {
  const anew = await change((document) => {
    document.setIn(["info", "version"], "2.0.0");
    document.deleteIn(list);
  });
  expect(anew).toEqual([]);
});
