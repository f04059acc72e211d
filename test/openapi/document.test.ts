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

// What openapi.yaml says: released.test.ts.
const prose = page.replaceAll(/\s+/g, " ");
test.each([
  "Every request carries an API key: `Authorization: Bearer KEY`",
  "200: every order ever placed, as one JSON array, in no particular order",
  "204, no body: the order was pending and is now cancelled",
  "No. List all orders and find yours by `id`",
  "A cancelled order is still listed, unchanged",
  "`complete` is true, and `shipDate` is the actual date",
  "place or ship an order? Not over HTTP",
  "undo a cancellation? No",
  "call it from a browser? No",
  "Program against `code`; the message is for people",
  "quote the response's `x-amzn-RequestId`",
  "An error without a `code` comes from AWS itself: go by its status",
  "429, 5xx, a lost connection, a list that doesn't end with `]` | Retry: the outcome is unknown, and cancelling again is safe",
  "`order_already_cancelled` | Treat it as done",
  "401 | Replace the key: it is malformed, unknown, expired or revoked",
  "403, or 409 `order_not_pending` | Ask the operator",
  "`order_already_shipped` | It is too late to cancel",
  "any other 4xx | Don't repeat",
  "up to 1 second, then up to 2, 4 and 8, plus the response's `Retry-After` (0 to 99 seconds)",
  "Give up after five attempts",
  "No request fails more than three times in a row",
  "They never follow redirects, and they send the key over `http://` to your own machine only",
  "silent for a minute counts as lost (`timeout`: milliseconds in TypeScript, seconds in Python)",
  "for Node.js 22 or newer",
  "throws an `ApiError` with the response's `status` and `code`",
  "Integers are `number`s, but `bigint`s where a `number` would round",
  "compare ids with `==`",
  "`JSON.stringify` throws on a `bigint`",
  "export NODE_EXTRA_CA_CERTS=ca.pem",
  "NODE_USE_ENV_PROXY=1 HTTPS_PROXY=http://PROXY:3128 node program.ts",
  'add this below `http.trust_env`: ```python http.proxies = {"https": "http://PROXY:3128"} http.verify = "ca.pem"',
  "Beyond it they get 429",
  "cut off before its `]` after 15 minutes or 199 MB: [about 1.8 million orders, or 7 million with",
  "the TypeScript client does, up to 5 million",
  "A stored value of the wrong type is left out",
  "after it is revoked, or expires",
  "`007` gets 404",
  "`DELETE .../orders/4/` may cancel order 4",
])("API.md says: %s", (promise) => {
  expect(prose).toContain(promise);
});

test("API.md has the numbers of production, unless that has another stack's name", () => {
  const { authorizerCacheSeconds, stackName, throttling } = environments.production;
  const isOurs = stackName === "PetStoreOrders-production";
  const { listOrders, cancelOrder } = throttling;
  const [lists, cancellations] = isOurs
    ? [listOrders.rateLimit, cancelOrder.rateLimit]
    : ["\\d+", "\\d+"];
  expect(page).toMatch(
    new RegExp(
      `allows ${lists} lists and ${cancellations} cancellations .* for up to a minute`,
      "s",
    ),
  );
  expect(isOurs ? authorizerCacheSeconds : 60).toBeLessThanOrEqual(60);
});

test("the JavaScript of the description reads every int64 exactly", async () => {
  const example = /```js\n(.*?)```/s.exec(document.info.description)?.[1];
  const module = encodeURIComponent(`${example} export { parseExactly };`);
  const { parseExactly } = await import(`data:text/javascript,${module}`);
  expect(
    parseExactly('[{"id":9223372036854775807,"petId":-9007199254740993,"quantity":7}]'),
  ).toEqual([{ id: 9223372036854775807n, petId: -9007199254740993n, quantity: 7 }]);
});
