import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { type Document, parse, parseDocument } from "yaml";
import { incompatibilities } from "../helpers/openapi/compatibility.ts";
import { documentFile } from "../helpers/openapi/document.ts";

const released = await readFile(new URL("released.yaml", import.meta.url), "utf8");
const current = await readFile(documentFile, "utf8");

test("the document keeps every promise of the released one", () => {
  expect(incompatibilities(parse(released), parse(current))).toEqual([]);
});

test("the changelog says what is new since the release", async () => {
  const changelog = await readFile(new URL("CHANGELOG.md", documentFile), "utf8");
  const [, unreleased = ""] = /^## Unreleased\n(.*?)(?=^## )/ms.exec(changelog) ?? [];
  if (!/^- /m.test(unreleased)) expect(parse(current)).toEqual(parse(released));
});

const orders = ["paths", "/store/orders", "get"];
const order = ["components", "schemas", "Order"];
const change = (edit: (document: Document) => unknown): string[] => {
  const changed = parseDocument(released);
  edit(changed);
  return incompatibilities(parse(released), changed.toJS());
};

describe("a promise is broken", () => {
  test.each<[string, (document: Document) => unknown, string]>([
    ["an operation disappears", (document) => document.deleteIn(orders), "no longer: GET /store/orders"],
    [
      "a code disappears",
      (document) =>
        document.deleteIn([
          ...["components", "responses", "NotPending", "content", "application/json", "examples"],
          "order_not_pending",
        ]),
      "no longer: DELETE /store/orders/{orderId} 409 code order_not_pending",
    ],
    [
      "a field changes its type",
      (document) => document.setIn([...order, "properties", "quantity", "type"], "string"),
      "no longer: GET /store/orders 200 application/json [].quantity: integer int64, optional",
    ],
    [
      "a field becomes required",
      (document) => document.setIn([...order, "required"], ["petId"]),
      "no longer: GET /store/orders 200 application/json [].petId: integer int64, optional",
    ],
    [
      "a header disappears",
      (document) => document.deleteIn(["components", "responses", "TooManyRequests", "headers", "Retry-After"]),
      "no longer: GET /store/orders 429 header Retry-After: string, always",
    ],
    [
      "a new parameter is required",
      (document) =>
        document.setIn(
          [...orders, "parameters"],
          [{ name: "page", in: "query", required: true, schema: { type: "string" } }],
        ),
      "new: must send query page: string to GET /store/orders",
    ],
  ])("when %s", (_change, edit, broken) => {
    expect(change(edit)).toContain(broken);
  });
});

describe("no promise is broken", () => {
  test.each<[string, (document: Document) => unknown]>([
    [
      "an operation is added, with a parameter of its own",
      (document) =>
        document.setIn(["paths", "/pets/{petId}"], {
          get: { parameters: [{ name: "petId", in: "path", required: true, schema: {} }], responses: {} },
        }),
    ],
    ["a field is added", (document) => document.setIn([...order, "properties", "gift"], { type: "boolean" })],
    [
      "an optional parameter is added",
      (document) =>
        document.setIn([...orders, "parameters"], [{ name: "page", in: "query", schema: { type: "string" } }]),
    ],
    [
      "anything happens in a new major version",
      (document) => document.setIn(["info", "version"], "2.0.0") ?? document.deleteIn(orders),
    ],
  ])("when %s", (_change, edit) => {
    expect(change(edit)).toEqual([]);
  });
});
