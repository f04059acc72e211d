import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { document as fullDocument, schemaProblems } from "../../infra/smoke/document.ts";
import { operations } from "../../infra/stack/function-list.ts";
import { errorBody, errors } from "../../shared/errors.ts";
import { orderFields } from "../../shared/order.ts";
import { document, documentFile } from "../helpers/openapi/document.ts";

test("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const result = await validator.validate(fileURLToPath(documentFile));
  expect(result).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("the document has a server each for production, staging and this machine", () => {
  expect(document.servers.map(({ url }) => url)).toEqual([
    "{base_url}",
    "{staging_base_url}",
    "{local_base_url}",
  ]);
});

test.each(document.servers)(
  "the default address of the server $url is a URL that ends in /v1",
  ({ url, variables }) => {
    const address = url.replaceAll(/\{(\w+)\}/g, (_match, name) => variables[name]?.default ?? "");
    expect(address).toMatch(/^https?:\/\/[^{}]+\/v1$/);
  },
);

test("the document has the operations of the list of functions", () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, tags }]) => [
      method.toUpperCase(),
      path,
      operationId,
      tags,
    ]),
  );
  const listed = operations.map(({ method, path, name }) => [method, path, name, ["orders"]]);
  expect(described.sort()).toEqual(listed.sort());
});

test("the document's only security scheme is a bearer key", () => {
  expect(document.components.securitySchemes).toEqual({
    bearerAuth: expect.objectContaining({ type: "http", scheme: "bearer" }),
  });
});

test("the document requires every field of an Error", () => {
  expect(document.components.schemas.Error.required).toEqual(["code", "message", "status"]);
});

const { Order } = document.components.schemas;

test("the document has the fields of an Order with their types", () => {
  const properties = Object.entries(Order.properties);
  const fields = properties.map(([name, { type, format }]) => ({ name, type: format ?? type }));
  expect(fields).toEqual(orderFields);
});

test("the document requires no field of an Order", () => {
  expect(Order).not.toHaveProperty("required");
});

const codeSchema = document.components.schemas.Error.properties.code;
const describedCodes = [...codeSchema.description.matchAll(/`(\w+)`/g)].map(([, name]) => name);

test.each([
  ["description", describedCodes],
  ["examples", codeSchema.examples],
  ["x-extensible-enum", codeSchema["x-extensible-enum"]],
])("every code of the catalogue is in the %s of Error.code", (_part, codes) => {
  expect(codes).toEqual(Object.keys(errors));
});

test("the changelog that the document links to has an entry for its version", async () => {
  const source = await readFile(documentFile, "utf8");
  const links = [...source.matchAll(/\[changelog\]\((.*?)\)/g)];
  expect(links.length).toBeGreaterThan(0);
  for (const [, link = ""] of links) {
    const changelog = await readFile(new URL(link, documentFile), "utf8");
    expect(changelog).toContain(`\n## ${document.info.version} (`);
  }
});

test("the table in API.md has the codes of the catalogue under their status", async () => {
  const page = await readFile(new URL("API.md", documentFile), "utf8");
  const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)];
  const inTable = rows.map(([, status, code]) => [code, Number(status)]);
  const inCatalogue = Object.entries(errors).map(([code, { status }]) => [code, status]);
  expect(inTable.sort()).toEqual(inCatalogue.sort());
});

test("the table of operations in API.md has the operations of the document", async () => {
  const page = await readFile(new URL("API.md", documentFile), "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z]+ \S+)` \(`(\w+)`\) \|/gm)];
  const inTable = rows.map(([, request, operationId]) => [request, operationId]);
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => [
      `${method.toUpperCase()} ${path}`,
      operationId,
    ]),
  );
  expect(inTable.sort()).toEqual(described.sort());
});

/** Every response of every operation, with its status. */
const responses = Object.values(fullDocument.paths)
  .flatMap((item) => Object.values(item))
  .flatMap((operation) => Object.entries(operation.responses));

test("every response names the id that support asks for", () => {
  for (const [, { headers }] of responses) expect(headers).toHaveProperty("x-amzn-RequestId");
});

test("every error of the catalogue is an example, word for word", () => {
  const examples = Object.values(fullDocument.components.responses).flatMap(({ content }) =>
    Object.entries(content?.["application/json"]?.examples ?? {}),
  );
  const catalogue = Object.keys(errors).map((code) => [
    code,
    { value: JSON.parse(errorBody(code as keyof typeof errors)) },
  ]);
  expect(Object.fromEntries(examples)).toEqual(Object.fromEntries(catalogue));
});

test("every example of an Error stands under its own status", () => {
  const failures = responses.filter(([status]) => status >= "400");
  for (const [status, { content }] of failures) {
    const examples = Object.values(content?.["application/json"]?.examples ?? {});
    expect(examples.length).toBeGreaterThan(0);
    for (const { value } of examples) expect(value).toMatchObject({ status: Number(status) });
  }
});

test("the JavaScript of the description reads every int64 exactly", async () => {
  const example = /```js\n(.*?)```/s.exec(document.info.description)?.[1];
  const module = encodeURIComponent(`${example} export { parseExactly };`);
  const { parseExactly } = await import(`data:text/javascript,${module}`);
  expect(
    parseExactly('[{"id":9223372036854775807,"petId":-9007199254740993,"quantity":7}]'),
  ).toEqual([{ id: 9223372036854775807n, petId: -9007199254740993n, quantity: 7 }]);
});

test("every example fits its schema", () => {
  const bodies = responses.flatMap(([, { content = {} }]) => Object.values(content));
  for (const { examples, schema } of bodies) {
    for (const [name, { value }] of Object.entries(examples))
      expect(schemaProblems(schema, value, name)).toEqual([]);
  }
});
