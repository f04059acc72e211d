import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { isDateTime, isInt64 } from "../../shared/order.ts";
import type { HttpResponse } from "./client.ts";

interface DocumentedResponse {
  headers?: Record<string, { required?: boolean; schema: object }>;
  content?: Record<
    string,
    { schema: object; examples: Record<string, { value: unknown }> }
  >;
}

const text = readFileSync(new URL("../../shared/openapi.yaml", import.meta.url), "utf8");
const openapi = parse(text.replaceAll("x-extensible-enum:", "enum:"));

/** The parts of `shared/openapi.yaml` that responses are held to, with its references resolved. */
export const document: {
  /** Operations by path and lower-case method, and their responses by status. */
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>;
  components: { responses: Record<string, DocumentedResponse> };
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
 * The document leaves objects and error codes open, so that later versions can add to them. A field
 * or a code that this version sends without documenting it is a mistake.
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

const formats = { "date-time": isDateTime, int32: true, int64: true } as const;
const ajv = new Ajv2020({ allErrors: true, strict: false, formats });

/** A line for each way in which `value` breaks a schema of the document; `what` names the value. */
export function schemaProblems(schema: object, value: unknown, what: string): string[] {
  ajv.validate(schema, value);
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/**
 * Headers of the connection or the gateway, not of the interface: AWS adds request ids, traces and
 * more at will. Content-Type is checked with the content.
 */
const transportHeader =
  /^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|x-amzn?-.*)$/;

const components = document.components.responses;
/** Responses to a request that matches no operation, by status. Its path decides on 404 or 405. */
const gatewayResponses = {
  400: components["BadRequest"],
  403: components["Forbidden"],
  413: components["RequestTooLarge"],
  415: components["UnsupportedMediaType"],
  429: components["TooManyRequests"],
};
const unknownPathResponses = { ...gatewayResponses, 404: components["NotFound"] };
const unknownMethodResponses = { ...gatewayResponses, 405: components["MethodNotAllowed"] };

/** Codes that no operation sends, and those that only an operation sends. */
const gatewayCodes = ["resource_not_found", "method_not_allowed", "unsupported_media_type"];
const operationCodes = ["order_not_found"];

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
  response: HttpResponse,
): string[] {
  const known = paths.find(({ pattern }) => pattern.test(path));
  const operation = known?.operations[method.toLowerCase()];
  const rejections = known ? unknownMethodResponses : unknownPathResponses;
  const responses: Record<string, DocumentedResponse | undefined> =
    operation?.responses ?? rejections;
  const documented = responses[response.status];
  if (documented === undefined)
    return [`status ${response.status} is not documented: ${response.body}`];
  const problems = headerProblems(documented, response);
  if (method === "HEAD") return problems;
  const impossibleCodes = operation ? gatewayCodes : operationCodes;
  return [...problems, ...bodyProblems(documented, response, impossibleCodes)];
}

function headerProblems(
  { headers = {} }: DocumentedResponse,
  { headers: sent }: HttpResponse,
): string[] {
  const problems = Object.entries(headers).flatMap(([name, { required, schema }]) => {
    const value = sent[name.toLowerCase()];
    if (value !== undefined) return schemaProblems(schema, value, `header ${name}`);
    return required ? [`header ${name} is missing`] : [];
  });
  const documented = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const undocumented = Object.keys(sent).filter(
    (name) => !documented.has(name) && !transportHeader.test(name),
  );
  return [...problems, ...undocumented.map((name) => `header ${name} is not documented`)];
}

function bodyProblems(
  { content }: DocumentedResponse,
  { status, headers, body }: HttpResponse,
  impossibleCodes: string[],
): string[] {
  if (content === undefined)
    return body === "" ? [] : [`a body is not documented: ${body}`];
  const contentType = headers["content-type"] ?? "";
  const documented = content[contentType];
  if (documented === undefined) return [`content type ${contentType} is not documented`];
  const problems = jsonProblems(documented.schema, body);
  if (status < 300 || problems.length > 0) return problems;
  const error: { code: string; status: number } = JSON.parse(body);
  if (error.status !== status)
    problems.push(`the body says status ${error.status}, the response ${status}`);
  // The document has an example of each code, under the code's name.
  if (!(error.code in documented.examples) || impossibleCodes.includes(error.code))
    problems.push(`code ${error.code} is not documented for this request`);
  return problems;
}

/**
 * A line for each way in which a text breaks a schema. A number must have the digits of an int64,
 * which a JavaScript number can't hold.
 */
function jsonProblems(schema: object, json: string): string[] {
  const checkDigits = (
    _name: string,
    value: unknown,
    context?: { source: string },
  ): unknown => {
    if (typeof value !== "number" || isInt64(context?.source ?? "")) return value;
    throw new RangeError(`${context?.source} is not an int64`);
  };
  try {
    return schemaProblems(schema, JSON.parse(json, checkDigits), "body");
  } catch (error) {
    return [`body is invalid: ${error}`];
  }
}
