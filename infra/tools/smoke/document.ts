import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { type ErrorCode, errors } from "../../../shared/errors.ts";
import { isDateTime, isInt64 } from "../../../shared/order.ts";
import { withoutSecrets } from "../../../shared/secrets.ts";
import { NotReady, type ReceivedResponse } from "./client.ts";

/**
 * Headers of the connection or the gateway, not of the interface: AWS adds request ids, traces and
 * more at will.
 */
const transportHeader =
  "^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|x-amzn?-.*)$";

interface DocumentedResponse {
  headers?: Record<string, { required?: boolean; schema: object }>;
  /** Examples of errors are all that there are. */
  content?: Record<
    string,
    { schema: object; examples: Record<string, { value: unknown }> }
  >;
}

const file = new URL("../../../shared/openapi.yaml", import.meta.url);
const openapi = parse(readFileSync(file, "utf8"));

/** Schemas of whole responses, by status or by name. */
type Responses = Record<string, object | undefined>;

/** The parts of `shared/openapi.yaml` that responses are held to. */
const document: {
  /** Operations by path and lower-case method. */
  paths: Record<string, Record<string, { responses: Responses }>>;
  components: { responses: Responses };
} = strict(openapi);

/** Its paths, with `none` for each parameter, and methods that each has and doesn't have. */
export const paths = Object.entries(document.paths).map(([template, operations]) => {
  const parameter = /\{\w+\}/g;
  const methods = Object.keys(operations).map((method) => method.toUpperCase());
  return {
    path: template.replaceAll(parameter, "none"),
    // The gateway ignores a slash at the end.
    pattern: new RegExp(`^${template.replaceAll(parameter, "[^/?#]+")}/?(?:[?#]|$)`),
    operations,
    methods: methods.sort(),
    otherMethods: ["PATCH", "PUT"].filter((method) => !methods.includes(method)),
  };
});

/** A request for each of its operations. Those for one order name an order that does not exist. */
export const documentedRequests = paths.flatMap(({ path, methods }) =>
  methods.map((method) => ({ method, path })),
);

/**
 * Resolves references, and turns each response into a schema. The document leaves objects open, so
 * that later versions can add to them. A field that this version sends without documenting it is a
 * mistake.
 */
function strict(node: unknown) {
  return JSON.parse(JSON.stringify(node), (name, value) => {
    if (value?.$ref) {
      const names: string[] = value.$ref.split("/").slice(1);
      return strict(names.reduce((from, name) => from[name], openapi));
    }
    if (name === "responses")
      return Object.fromEntries(Object.entries<DocumentedResponse>(value).map(schemaOf));
    return value?.type === "object" ? { ...value, additionalProperties: false } : value;
  });
}

/** A response by its status, or an error by its name, as the schema of all of it. */
function schemaOf([status, { headers, content }]: [string, DocumentedResponse]) {
  const json = content?.["application/json"];
  const contentType = { required: true, schema: { const: "application/json" } };
  const named = Object.entries({
    ...headers,
    ...(json && { "content-type": contentType }),
  }).map(([name, header]) => ({ ...header, name: name.toLowerCase() }));
  const examples = {
    enum: Object.values({ ...json?.examples }).map(({ value }) => value),
  };
  const body = status < "300" ? json?.schema : examples;
  const properties = {
    headers: {
      properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
      required: named.filter(({ required }) => required).map(({ name }) => name),
      patternProperties: { [transportHeader]: {} },
      additionalProperties: false,
    },
    body: json ? body : { const: "" },
  };
  return [status, { properties }];
}

const components = document.components.responses;
/** To a request that matches no operation. Its path decides on 404 or 405. */
const gatewayResponses: Responses = {
  400: components["BadRequest"],
  403: components["Forbidden"],
  404: components["NotFound"],
  405: components["MethodNotAllowed"],
  413: components["RequestTooLarge"],
  415: components["UnsupportedMediaType"],
  429: components["TooManyRequests"],
};

const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  verbose: true,
  formats: { "date-time": isDateTime, int64: true },
});

/**
 * Checks a response against the OpenAPI document: its status, every header, the content type and
 * the whole body. The response to a request that matches no operation must be the one in
 * `components.responses` for its path.
 *
 * @param path with the query, relative to the base address: `/store/orders/1`.
 * @returns a line for everything that the document does not describe; empty when it describes all
 * of the response.
 */
export function responseProblems({
  method,
  path,
  status,
  headers,
  body,
}: ReceivedResponse): string[] {
  const known = paths.find(({ pattern }) => pattern.test(path));
  const operation = known?.operations[method.toLowerCase()];
  const { [known ? 404 : 405]: _, ...unmatched } = gatewayResponses;
  const { [status]: schema } = operation?.responses ?? unmatched;
  if (schema === undefined) return [`status ${status} is not documented: ${body}`];
  const otherCode = known ? "resource_not_found" : "order_not_found";
  if (body.includes(otherCode)) return [`code ${otherCode} is not documented there`];
  ajv.validate(schema, { headers, ...(method !== "HEAD" && { body: parsed(body) }) });
  return (ajv.errors ?? []).map(({ instancePath, message, params, data }) => {
    const [expected] = Object.values(params);
    return `${instancePath.slice(1)} ${message} ${JSON.stringify(expected)}: ${excerpt(data)}`;
  });
}

/**
 * A body as JSON, or else its text. A number without the digits of an int64, which a JavaScript
 * number can't hold, is a text, too.
 */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body, (_name, value, context?: { source: string }) =>
      typeof value === "number" && !isInt64(`${context?.source}`)
        ? context?.source
        : value,
    );
  } catch {
    return body;
  }
}

/** The start of a value that the service sent, as JSON without keys. */
export function excerpt(value: unknown): string {
  return withoutSecrets(JSON.stringify(value)).replace(/(?<=^.{120}).+/s, "…");
}

/**
 * @throws AssertionError unless the response has this status; NotReady for one that a new stage may
 * have.
 */
export function expectStatus(
  { method, path, status, body }: ReceivedResponse,
  expected: number,
) {
  if (status === expected) return;
  const seen = `${method} ${path}: status ${status} instead of ${expected}, with the body ${excerpt(body)}`;
  if ([403, 404].includes(status) || status >= 500) throw new NotReady(seen);
  assert.fail(seen);
}

/** @throws AssertionError unless the interface description allows the response. */
export function expectDocumented(response: ReceivedResponse) {
  const { method, path } = response;
  const problems = responseProblems(response);
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  const seen = `${method} ${path}: ${problems.slice(0, 5).join("; ")}${more}`;
  assert(problems.length === 0, withoutSecrets(seen));
}

/**
 * @throws AssertionError unless the response is the documented Error with this code and its status;
 * NotReady for one that a new stage may send.
 */
export function expectError(response: ReceivedResponse, expected: ErrorCode) {
  expectStatus(response, errors[expected].status);
  const { method, path } = response;
  const body = parsed(response.body);
  const code = body instanceof Object && "code" in body ? body.code : body;
  const seen = `${method} ${path}: code ${excerpt(code)} instead of ${expected}`;
  // The gateway responds like this until an operation's route has reached it.
  if (code === "resource_not_found" && code !== expected) throw new NotReady(seen);
  assert(code === expected, seen);
  expectDocumented(response);
}
