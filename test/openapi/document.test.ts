import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { operations } from "../../infra/stack/function-list.ts";
import { errorBody, errors } from "../../shared/errors.ts";
import { orderFields } from "../../shared/order.ts";
import { document } from "../helpers/openapi/document.ts";

const page = readFileSync("shared/API.md", "utf8");
const rowsOfPage = (row: RegExp) =>
  Array.from(page.matchAll(row), ([, ...columns]) => columns.join(" ")).sort();
const codes = Object.keys(errors) as (keyof typeof errors)[];
const { Order, Error: ErrorSchema } = document.components.schemas;

interface Response {
  headers?: object;
  content?: Record<string, { examples?: Record<string, { value: unknown }> }>;
}
type Paths = Record<string, Record<string, { responses: Record<string, Response> }>>;

const resolved = new Validator().resolveRefs({ specification: { ...document } });
const responses = Object.values(resolved["paths"] as Paths)
  .flatMap((item) => Object.values(item))
  .flatMap((operation) => Object.entries(operation.responses));

/** Like `200 []`. */
const examples = responses.flatMap(([status, { content }]) =>
  Object.values(content?.["application/json"]?.examples ?? {}).map(
    ({ value }) => `${status} ${JSON.stringify(value)}`,
  ),
);

test("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate("shared/openapi.yaml")).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("the document has a server each for production, staging and this machine, below /v1", () => {
  const address = expect.stringMatching(/^https?:\/\/[^{}]+\/v1$/);
  const servers = ["base_url", "staging_base_url", "local_base_url"].map((name) => ({
    url: `{${name}}`,
    variables: { [name]: { default: address } },
  }));
  expect(document.servers).toMatchObject(servers);
});

test("the document and API.md have the operations of the list of functions", () => {
  const listed = operations
    .map(({ method, path, name }) => `${method} ${path} ${name}`)
    .sort();
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`,
    ),
  );
  expect(described.sort()).toEqual(listed);
  expect(rowsOfPage(/^\| `([A-Z]+ \S+)` \(`(\w+)`\) \|/gm)).toEqual(listed);
});

test("the document asks for a bearer key, and has the fields of an Order and of an Error", () => {
  expect(document.components.securitySchemes).toEqual({
    bearerAuth: expect.objectContaining({ type: "http", scheme: "bearer" }),
  });
  expect(ErrorSchema.required).toEqual(["code", "message", "status"]);
  expect(Order).not.toHaveProperty("required");
  const properties = Object.entries(Order.properties);
  expect(
    properties.map(([name, { type, format }]) => ({ name, type: format ?? type })),
  ).toEqual(orderFields);
});

test("the document lists every code of the catalogue, of which API.md explains some", () => {
  expect(ErrorSchema.properties.code["x-extensible-enum"]).toEqual(codes);
  const explained = rowsOfPage(/^\|.* (\d{3} `[a-z_]+`)/gm);
  expect(explained).not.toEqual([]);
  expect(codes.map((code) => `${errors[code].status} \`${code}\``)).toEqual(
    expect.arrayContaining(explained),
  );
});

test("every error of the catalogue is an example, word for word, under its own status", () => {
  const catalogue = codes.map((code) => `${errors[code].status} ${errorBody(code)}`);
  const failures = examples.filter((example) => example >= "400");
  expect(new Set(failures)).toEqual(new Set(catalogue));
});

test("every response names the id that support asks for", () => {
  for (const [, { headers }] of responses)
    expect(headers).toHaveProperty("x-amzn-RequestId");
});

const prose = JSON.stringify(document).replaceAll(/(\\n|\s)+/g, " ");
test.each([
  "headers may total 10,240 bytes",
  "204 and 409 `order_already_cancelled` both mean that it is",
  "Only a list that ends with `]` is complete",
  "at most one request gets the 204",
  "`context.source` needs Node 22",
])("the document says: %s", (promise) => {
  expect(prose).toContain(promise);
});

test("API.md has the numbers of the sample production, if that is the one", () => {
  const { production } = environments;
  const numbers = {
    authorizerCacheSeconds: 60,
    throttling: { listOrders: { rateLimit: 10 }, cancelOrder: { rateLimit: 200 } },
  };
  const isSample = production.stackName === "PetStoreOrders-production";
  expect(isSample ? production : numbers).toMatchObject(numbers);
  expect(page).toMatch(/allows 10 lists and 200 cancellations .* for up to a minute/s);
});

test("the JavaScript of the description reads every int64 exactly", async () => {
  const example = /```js\n(.*?)```/s.exec(document.info.description)?.[1];
  const module = encodeURIComponent(`${example} export { parseExactly };`);
  const { parseExactly } = await import(`data:text/javascript,${module}`);
  expect(
    parseExactly('[{"id":9223372036854775807,"petId":-9007199254740993,"quantity":7}]'),
  ).toEqual([{ id: 9223372036854775807n, petId: -9007199254740993n, quantity: 7 }]);
});
