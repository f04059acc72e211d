import assert from "node:assert/strict";
import { withoutKeys } from "../../shared/api-keys.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import { isInt64 } from "../../shared/order.ts";
import type { ApiResponse, HttpResponse } from "./client.ts";
import { type DocumentedResponse, document, schemaProblems } from "./document.ts";

/**
 * Headers of the connection or the gateway, not of the interface: AWS adds request ids, traces and
 * more at will. Content-Type is checked with the content.
 */
const transportHeader =
  /^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|x-amzn?-.*)$/;

const {
  BadRequest,
  Forbidden,
  MethodNotAllowed,
  NotFound,
  RequestTooLarge,
  TooManyRequests,
  UnsupportedMediaType,
} = document.components.responses;

/**
 * The responses to a request that matches no operation, by status, besides the 404 or 405 of its
 * path.
 */
const rejections = {
  400: BadRequest,
  403: Forbidden,
  413: RequestTooLarge,
  415: UnsupportedMediaType,
  429: TooManyRequests,
};

/**
 * Codes that only a request that matches no operation may get, and those that only one that does
 * may.
 */
const codesOutsideOperations = [
  "resource_not_found",
  "method_not_allowed",
  "unsupported_media_type",
];
const codesOfOperations = ["order_not_found"];

/**
 * Checks a response against the OpenAPI document: its status, every header, the content type and
 * the whole body. The response to a request that matches no operation must be the one in
 * `components.responses` for its path.
 *
 * @param path the path and query of the request, relative to the base address: `/store/orders/1`.
 * @returns a line for everything that the document does not describe; empty when it describes all
 * of the response.
 */
export function responseProblems(method: string, path: string, response: HttpResponse): string[] {
  const [, operations] =
    Object.entries(document.paths).find(([template]) => pathPattern(template).test(path)) ?? [];
  const operation = operations?.[method.toLowerCase()];
  const elsewhere = {
    ...rejections,
    ...(operations ? { 405: MethodNotAllowed } : { 404: NotFound }),
  };
  const responses: Record<string, DocumentedResponse | undefined> =
    operation?.responses ?? elsewhere;
  const documented = responses[response.status];
  if (documented === undefined)
    return [`status ${response.status} is not documented: ${response.body}`];
  const problems = headerProblems(documented, response);
  if (method === "HEAD") return problems;
  return [
    ...problems,
    ...bodyProblems(documented, response, operation ? codesOutsideOperations : codesOfOperations),
  ];
}

/** A trailing slash makes no difference to the gateway. */
function pathPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/?#]+")}/?(?:[?#]|$)`);
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
  if (content === undefined) return body === "" ? [] : [`a body is not documented: ${body}`];
  const contentType = headers["content-type"] ?? "";
  const documented = content[contentType];
  if (documented === undefined) return [`content type ${contentType} is not documented`];
  const problems = jsonProblems(documented.schema, body);
  if (status < 300 || problems.length > 0) return problems;
  const error: { code: string; status: number } = JSON.parse(body);
  if (error.status !== status)
    problems.push(`the body says status ${error.status}, the response ${status}`);
  // Every code is an example of its response, named like it.
  if (!(error.code in documented.examples) || impossibleCodes.includes(error.code)) {
    problems.push(`code ${error.code} is not documented for this request`);
  }
  return problems;
}

/**
 * Every number of the interface is an int64, which a JavaScript number can't hold, so its digits
 * are checked.
 */
function jsonProblems(schema: object, json: string): string[] {
  try {
    const value: unknown = JSON.parse(
      json,
      (_name, value: unknown, context?: { source: string }) => {
        if (typeof value !== "number" || isInt64(context?.source ?? "")) return value;
        throw new RangeError(`${context?.source} is not an int64`);
      },
    );
    return schemaProblems(schema, value, "body");
  } catch (error) {
    return [`body is not what it should be: ${error}`];
  }
}

// An AssertionError is a failed check. Any other Error says what a stage may also do in its first
// minute, before every route and permission is in place. Both say what the service did, and never
// hold a key.

/** @throws AssertionError or Error unless the response has this status. */
export function expectStatus(
  { status, body }: Pick<ApiResponse, "status" | "body">,
  expected: number,
): void {
  if (status === expected) return;
  const seen = `status ${status} instead of ${expected}, with the body ${excerpt(body)}`;
  if ([403, 404].includes(status) || status >= 500) throw new Error(seen);
  assert.fail(seen);
}

/**
 * @throws AssertionError unless the interface description allows the response: its headers, content
 * type and body.
 */
export function expectDocumented({ method, path, ...response }: ApiResponse): void {
  const problems = responseProblems(method, path, response);
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  assert(problems.length === 0, withoutKeys(problems.slice(0, 5).join("; ") + more));
}

/**
 * @throws AssertionError or Error unless the response is the documented Error with this code and
 * its status.
 */
export function expectError(response: ApiResponse, expected: ErrorCode): void {
  expectStatus(response, errors[expected].status);
  // The gateway responds like this until an operation's route has reached it.
  if (expected !== "resource_not_found" && response.body === errorBody("resource_not_found")) {
    throw new Error(`code resource_not_found instead of ${expected}`);
  }
  expectDocumented(response);
  const { code }: { code: string } = JSON.parse(response.body);
  assert(code === expected, `code ${code} instead of ${expected}`);
}

/** The start of a text that the service sent, on one line and without keys. */
export function excerpt(text: string): string {
  const quoted = JSON.stringify(withoutKeys(text));
  return quoted.length > 120 ? `${quoted.slice(0, 120)}…` : quoted;
}
