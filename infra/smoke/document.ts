import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { withoutKeys } from "../../shared/api-keys.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import { isDateTime, isInt64 } from "../../shared/order.ts";
import { type ApiResponse, type HttpResponse, NotReady } from "./client.ts";

/** A body and its examples: of errors, all that there are, by their codes. */
interface JsonBody {
  schema: object;
  examples: Record<string, { value: unknown }>;
}

interface DocumentedResponse {
  headers?: Record<string, { required?: boolean; schema: object }>;
  content?: { "application/json": JsonBody };
}

/** By status, or by name. */
type Responses = Record<string, DocumentedResponse | undefined>;

const file = new URL("../../shared/openapi.yaml", import.meta.url);
const openapi = parse(readFileSync(file, "utf8"));

/** The parts of `shared/openapi.yaml` that responses are held to, with its references resolved. */
const document: {
  /** Operations by path and lower-case method. */
  paths: Record<string, Record<string, { responses: Responses }>>;
  components: { responses: Responses };
} = strict(openapi);

const contentType = {
  "Content-Type": { required: true, schema: { const: "application/json" } },
};

/**
 * Headers of the connection or the gateway, not of the interface: AWS adds request ids, traces and
 * more at will.
 */
const transportHeader =
  "^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|x-amzn?-.*)$";

/** Its paths, with `none` for each parameter, and methods that each has and doesn't have. */
export const paths = Object.entries(document.paths).map(([template, operations]) => {
  const parameter = /\{\w+\}/g;
  const schemas = new Map(
    Object.entries(operations).map(([method, { responses }]) => [
      method.toUpperCase(),
      schemasOf(responses, "resource_not_found"),
    ]),
  );
  return {
    path: template.replaceAll(parameter, "none"),
    // The gateway ignores a slash at the end.
    pattern: new RegExp(`^${template.replaceAll(parameter, "[^/?#]+")}/?(?:[?#]|$)`),
    schemas,
    methods: [...schemas.keys()].sort(),
    otherMethods: ["PATCH", "PUT"].filter((method) => !schemas.has(method)),
  };
});

/** A request for each of its operations. Those for one order name an order that does not exist. */
export const documentedRequests = paths.flatMap(({ path, methods }) =>
  methods.map((method) => ({ method, path })),
);

/**
 * The document leaves objects open, so that later versions can add to them. A field that this
 * version sends without documenting it is a mistake.
 */
function strict(node: unknown) {
  return JSON.parse(JSON.stringify(node), (_name, value) => {
    if (value?.$ref) {
      const names: string[] = value.$ref.split("/").slice(1);
      return strict(names.reduce((from, name) => from[name], openapi));
    }
    return value?.type === "object" ? { ...value, additionalProperties: false } : value;
  });
}

/**
 * Schemas of whole responses, by status.
 *
 * @param otherCode the code of an error that these requests don't get.
 */
function schemasOf(responses: Responses, otherCode: string): Record<string, object> {
  const schemas = Object.entries(responses).map(([status, { headers, content } = {}]) => {
    const json = content?.["application/json"];
    const named = Object.entries({ ...headers, ...(json && contentType) }).map(
      ([name, header]) => ({ ...header, name: name.toLowerCase() }),
    );
    const properties = {
      headers: {
        properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
        required: named.filter(({ required }) => required).map(({ name }) => name),
        patternProperties: { [transportHeader]: {} },
        additionalProperties: false,
      },
      body: json ? bodySchema(status, json, otherCode) : { const: "" },
    };
    return [status, { properties }];
  });
  return Object.fromEntries(schemas);
}

function bodySchema(status: string, { schema, examples }: JsonBody, otherCode: string) {
  if (status < "300") return schema;
  const { [otherCode]: _, ...possible } = examples;
  return { enum: Object.values(possible).map(({ value }) => value) };
}

const components = document.components.responses;
/** To a request that matches no operation. Its path decides on 404 or 405. */
const gatewayResponses = {
  400: components["BadRequest"],
  403: components["Forbidden"],
  413: components["RequestTooLarge"],
  415: components["UnsupportedMediaType"],
  429: components["TooManyRequests"],
};
const unknownPath = schemasOf(
  { ...gatewayResponses, 404: components["NotFound"] },
  "order_not_found",
);
const unknownMethod = schemasOf(
  { ...gatewayResponses, 405: components["MethodNotAllowed"] },
  "order_not_found",
);

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
 * @param path the path and query of the request, relative to the base address: `/store/orders/1`.
 * @returns a line for everything that the document does not describe; empty when it describes all
 * of the response.
 */
export function responseProblems(
  method: string,
  path: string,
  { status, headers, body }: HttpResponse,
): string[] {
  const known = paths.find(({ pattern }) => pattern.test(path));
  const schemas = known ? (known.schemas.get(method) ?? unknownMethod) : unknownPath;
  const schema = schemas[status];
  if (schema === undefined) return [`status ${status} is not documented: ${body}`];
  ajv.validate(schema, { headers, ...(method !== "HEAD" && { body: parsed(body) }) });
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params, data }) =>
      `${instancePath.slice(1)} ${message} ${JSON.stringify(params)}: ${excerpt(data)}`,
  );
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
  const json = withoutKeys(JSON.stringify(value));
  return json.length > 120 ? `${json.slice(0, 120)}…` : json;
}

/**
 * @throws AssertionError unless the response has this status; NotReady for one that a new stage may
 * have.
 */
export function expectStatus(
  { status, body }: Pick<ApiResponse, "status" | "body">,
  expected: number,
): void {
  if (status === expected) return;
  const seen = `status ${status} instead of ${expected}, with the body ${excerpt(body)}`;
  if ([403, 404].includes(status) || status >= 500) throw new NotReady(seen);
  assert.fail(seen);
}

/** @throws AssertionError unless the interface description allows the response. */
export function expectDocumented({ method, path, ...response }: ApiResponse): void {
  const problems = responseProblems(method, path, response);
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  assert(problems.length === 0, withoutKeys(problems.slice(0, 5).join("; ") + more));
}

/**
 * @throws AssertionError unless the response is the documented Error with this code and its status;
 * NotReady for one that a new stage may send.
 */
export function expectError(response: ApiResponse, expected: ErrorCode): void {
  expectStatus(response, errors[expected].status);
  // The gateway responds like this until an operation's route has reached it.
  if (
    expected !== "resource_not_found" &&
    response.body === errorBody("resource_not_found")
  ) {
    throw new NotReady(`code resource_not_found instead of ${expected}`);
  }
  expectDocumented(response);
  const code: unknown = JSON.parse(response.body).code;
  assert(code === expected, `code ${code} instead of ${expected}`);
}
