import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { document as held, schemaProblems } from "../../infra/smoke/document.ts";
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

test("the document's addresses are of the deployed service, of staging and of this machine", () => {
  expect(document.servers.map(({ url }) => url)).toEqual([
    "{base_url}",
    "{staging_base_url}",
    "{local_base_url}",
  ]);
  for (const { url, variables } of document.servers) {
    const address = url.replaceAll(/\{(\w+)\}/g, (_match, name) => variables[name]?.default ?? "");
    expect(address).toMatch(/^https?:\/\/[^{}]+\/v1$/);
  }
});

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

test("the document asks for a bearer key", () => {
  expect(document.components.securitySchemes).toEqual({
    bearerAuth: expect.objectContaining({ type: "http", scheme: "bearer" }),
  });
});

test("the document requires every field of an Error", () => {
  expect(document.components.schemas.Error.required).toEqual(["code", "message", "status"]);
});

const { Order } = document.components.schemas;

test("the document has the fields of an Order with their types", () => {
  const fields = Object.entries(Order.properties).map(([name, { type, format = type }]) => ({
    name,
    type: format,
  }));
  expect(fields).toEqual(orderFields);
});

test("the document requires no field of an Order", () => {
  expect(Order).not.toHaveProperty("required");
});

const { code } = document.components.schemas.Error.properties;
const described = [...code.description.matchAll(/`(\w+)`/g)].map(([, name]) => name);

test.each([
  ["description", described],
  ["examples", code.examples],
  ["x-extensible-enum", code["x-extensible-enum"]],
])("the %s of Error.code name every code of the catalogue", (_part, codes) => {
  expect(codes).toEqual(Object.keys(errors));
});

test("the changelog that the document links to has its version", async () => {
  const links = [...(await readFile(documentFile, "utf8")).matchAll(/\[changelog\]\((.*?)\)/g)].map(
    ([, link = ""]) => link,
  );
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    expect(await readFile(new URL(link, documentFile), "utf8")).toContain(
      `\n## ${document.info.version}\n`,
    );
  }
});

test("the table in API.md has the codes of the catalogue under their status", async () => {
  const page = await readFile(new URL("API.md", documentFile), "utf8");
  const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
    code,
    Number(status),
  ]);
  expect(rows.sort()).toEqual(
    Object.entries(errors)
      .map(([code, { status }]) => [code, status])
      .sort(),
  );
});

test("the table of operations in API.md has the operations of the document", async () => {
  const page = await readFile(new URL("API.md", documentFile), "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z]+ \S+)` \(`(\w+)`\) \|/gm)].map(([, request, id]) => [
    request,
    id,
  ]);
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => [
      `${method.toUpperCase()} ${path}`,
      operationId,
    ]),
  );
  expect(rows.sort()).toEqual(described.sort());
});

/** Every response of every operation, with its status. */
const responses = Object.values(held.paths)
  .flatMap((item) => Object.values(item))
  .flatMap((operation) => Object.entries(operation.responses));

test("every error of the catalogue is an example, word for word", () => {
  const examples = Object.values(held.components.responses).flatMap(({ content }) =>
    Object.entries(content?.["application/json"]?.examples ?? {}),
  );
  const catalogue = Object.keys(errors).map((code) => [
    code,
    { value: JSON.parse(errorBody(code as keyof typeof errors)) },
  ]);
  expect(Object.fromEntries(examples)).toEqual(Object.fromEntries(catalogue));
});

test("every example of an Error stands under its own status", () => {
  for (const [status, { content }] of responses.filter(([status]) => status >= "400")) {
    const values = Object.values(content?.["application/json"]?.examples ?? {}).map(
      ({ value }) => value,
    );
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) expect(value).toMatchObject({ status: Number(status) });
  }
});

test("the JavaScript of the description reads every int64 exactly", async () => {
  const [, code] = /```js\n(.*?)```/s.exec(document.info.description) ?? [];
  const { parseExactly } = await import(
    `data:text/javascript,${encodeURIComponent(`${code} export { parseExactly };`)}`
  );
  expect(
    parseExactly('[{"id":9223372036854775807,"petId":-9007199254740993,"quantity":7}]'),
  ).toEqual([{ id: 9223372036854775807n, petId: -9007199254740993n, quantity: 7 }]);
});

test("every example fits its schema", () => {
  for (const { examples, schema } of responses.flatMap(([, { content = {} }]) =>
    Object.values(content),
  )) {
    for (const [name, { value }] of Object.entries(examples))
      expect(schemaProblems(schema, value, name)).toEqual([]);
  }
});
