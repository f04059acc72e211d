import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { type Document, parse, parseDocument } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { documentFile } from "../helpers/openapi/document.ts";

const released = await readFile(new URL("released.yaml", import.meta.url), "utf8");
const current = await readFile(documentFile, "utf8");

/** A line with its path for everything in a part of a document that clients may rely on. */
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
  if (majorVersion(document) !== majorVersion(released)) return [];
  const kept = await promisesOf(document);
  const broken = promised.filter((line) => !kept.includes(line));
  const required = kept.filter((line) => !promised.includes(line) && isRequirement(line));
  return [...broken.map((line) => `no longer:${line}`), ...required.map((line) => `new:${line}`)];
}

function majorVersion(document: string): string {
  const { version }: { version: string } = parse(document).info;
  return version.split(".")[0] ?? version;
}

/** Whether a line requires something of a request. A new operation may require what it likes. */
function isRequirement(line: string): boolean {
  const operation = /^ (\S+ \w+) (parameters|requestBody) .*required/.exec(line)?.[1];
  return operation !== undefined && promised.some((known) => known.startsWith(` ${operation} `));
}

test("the document keeps every promise of the released one", async () => {
  expect(await incompatibilities(current)).toEqual([]);
});

test("the changelog has unreleased entries exactly when the document has changed", async () => {
  const changelog = await readFile(new URL("CHANGELOG.md", documentFile), "utf8");
  const unreleased = /^## Unreleased\n(.*?)(?=^## )/ms.exec(changelog)?.[1] ?? "";
  const hasEntries = /^- /m.test(unreleased);
  expect(hasEntries).toBe(!isDeepStrictEqual(parse(current), parse(released)));
});

test("the document, both changelogs and package.json name one version", async () => {
  const versions = ["CHANGELOG.md", "../infra/CHANGELOG.md"].map(async (file) => {
    const changelog = await readFile(new URL(file, documentFile), "utf8");
    return /^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/m.exec(changelog)?.[1];
  });
  const { version } = packageJson;
  expect([parse(current).info.version, ...(await Promise.all(versions))]).toEqual(
    Array.from({ length: 3 }, () => version),
  );
});

const list = ["paths", "/store/orders", "get"];
const fields = ["components", "schemas", "Order", "properties"];
const responses = ["components", "responses"];
const notPending = [...responses, "NotPending"];
const page = { name: "page", in: "query", schema: { type: "string" } };

type Edit = (document: Document) => void;

/** The incompatibilities of the released document after an edit. */
async function change(edit: Edit): Promise<string[]> {
  const changed = parseDocument(released);
  edit(changed);
  return await incompatibilities(changed.toString());
}

const listedOrder =
  "/store/orders get responses 200 content application/json schema items properties";

const petId = { name: "petId", in: "path", required: true, schema: { type: "string" } };

test.each<{ what: string; edit: Edit; found: unknown }>([
  {
    what: "another type of a field",
    edit: (document) => document.setIn([...fields, "quantity", "type"], "string"),
    found: [`no longer: ${listedOrder} quantity type integer`],
  },
  {
    what: "a missing field",
    edit: (document) => document.deleteIn([...fields, "petId"]),
    found: [
      `no longer: ${listedOrder} petId type integer`,
      `no longer: ${listedOrder} petId format int64`,
    ],
  },
  {
    what: "a missing error code",
    edit: (document) =>
      document.deleteIn([
        ...notPending,
        "content",
        "application/json",
        "examples",
        "order_not_pending",
      ]),
    found: [
      "no longer: /store/orders/{orderId} delete responses 409 content application/json code order_not_pending",
    ],
  },
  {
    what: "a header that is no longer always sent",
    edit: (document) =>
      document.deleteIn([...responses, "Unauthorized", "headers", "WWW-Authenticate", "required"]),
    found: [
      "no longer: /store/orders get responses 401 headers WWW-Authenticate required true",
      "no longer: /store/orders/{orderId} delete responses 401 headers WWW-Authenticate required true",
    ],
  },
  {
    what: "a new required parameter",
    edit: (document) => document.setIn([...list, "parameters"], [{ ...page, required: true }]),
    found: ["new: /store/orders get parameters page required true"],
  },
  {
    what: "a missing operation",
    edit: (document) => document.deleteIn(list),
    found: expect.arrayContaining(["no longer: /store/orders get operationId listOrders"]),
  },
  {
    what: "nothing in a new path",
    edit: (document) =>
      document.setIn(["paths", "/pets/{petId}"], { get: { parameters: [petId], responses: {} } }),
    found: [],
  },
  {
    what: "nothing in a new field",
    edit: (document) => document.setIn([...fields, "gift"], { type: "boolean" }),
    found: [],
  },
  {
    what: "nothing in an optional parameter",
    edit: (document) => document.setIn([...list, "parameters"], [page]),
    found: [],
  },
  {
    what: "nothing in a new major version",
    edit: (document) => {
      document.setIn(["info", "version"], "2.0.0");
      document.deleteIn(list);
    },
    found: [],
  },
])("what breaks a promise is found: $what", async ({ edit, found }) => {
  expect(await change(edit)).toEqual(found);
});
