import type { IncomingHttpHeaders } from "node:http";
import { isInt64 } from "../../shared/order.ts";
import { type DocumentedResponse, document, follow, operations, pointerPart } from "./document.ts";
import { schemaProblems } from "./schema-problems.ts";

/** An HTTP response as a client sees it. */
export interface HttpResponse {
  status: number;
  /** By lower-case name. */
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  body: string;
}

/** Headers of the connection or the gateway, not of the interface. Content-Type is checked with the content. */
const transportHeaders = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

/** AWS adds these at will: request ids, traces, the type of a gateway response. */
const awsHeader = /^x-amzn?-/;

/** The responses that a request which matches no operation may get, besides the 404 or 405 of its path. */
const rejections = ["BadRequest", "Forbidden", "RequestTooLarge", "UnsupportedMediaType", "TooManyRequests"];

/** Codes that only a request that matches no operation may get. */
const codesOutsideOperations = ["resource_not_found", "method_not_allowed", "unsupported_media_type"];

/** The part of the document that describes a response. */
interface Documented {
  response: DocumentedResponse;
  pointer: string;
  /** The error codes it may have. */
  codes: string[];
}

/**
 * Checks a response against the OpenAPI document: its status, every header, the content type and the whole body. The
 * response to a request that matches no operation must be the one in `components.responses` for its path.
 *
 * @param path the path and query of the request, relative to the base address: `/store/orders/1`.
 * @returns a line for everything that the document does not describe; empty when it describes all of the response.
 */
export function responseProblems(method: string, path: string, response: HttpResponse): string[] {
  const documented = findDocumented(method, path.replace(/[?#].*$/s, ""), response.status);
  if (documented === undefined) return [`status ${response.status} is not documented: ${response.body}`];
  const problems = headerProblems(documented, response);
  return method === "HEAD" ? problems : [...problems, ...bodyProblems(documented, response)];
}

function findDocumented(method: string, path: string, status: number): Documented | undefined {
  const atPath = operations.filter((operation) => pathPattern(operation.path).test(path));
  const match = atPath.find((operation) => operation.method === method);
  const { responses } = document.components;
  if (match !== undefined) {
    const reference = match.operation.responses[status];
    if (reference === undefined) return undefined;
    const [response, pointer] = follow(reference, `${match.pointer}/responses/${status}`);
    return { response, pointer, codes: codesOf(response).filter((code) => !codesOutsideOperations.includes(code)) };
  }
  const names = [atPath.length > 0 ? "MethodNotAllowed" : "NotFound", ...rejections];
  const name = names.find((name) => errorExamples(responses[name]).some((error) => error.status === status));
  const response = responses[name ?? ""];
  if (response === undefined) return undefined;
  const codes = codesOf(response).filter((code) => code !== "order_not_found");
  return { response, pointer: `#/components/responses/${name}`, codes };
}

/** A trailing slash makes no difference to the gateway. */
function pathPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`);
}

function headerProblems(
  { response: { headers = {} }, pointer }: Documented,
  { headers: sent }: HttpResponse,
): string[] {
  const problems: string[] = [];
  const undocumented = new Map(Object.entries(sent));
  for (const [name, reference] of Object.entries(headers)) {
    const [header, headerPointer] = follow(reference, `${pointer}/headers/${pointerPart(name)}`);
    const value = undocumented.get(name.toLowerCase());
    undocumented.delete(name.toLowerCase());
    if (value !== undefined) problems.push(...schemaProblems(`${headerPointer}/schema`, value, `header ${name}`));
    else if (header.required) problems.push(`header ${name} is missing`);
  }
  for (const name of undocumented.keys()) {
    if (!transportHeaders.has(name) && !awsHeader.test(name)) problems.push(`header ${name} is not documented`);
  }
  return problems;
}

function bodyProblems(
  { response: { content }, pointer, codes }: Documented,
  { status, headers, body }: HttpResponse,
): string[] {
  if (content === undefined) return body === "" ? [] : [`a body is not documented: ${body}`];
  const contentType = headers["content-type"] ?? "";
  if (content[contentType] === undefined) return [`content type ${contentType} is not documented`];
  const problems = jsonProblems(`${pointer}/content/${pointerPart(contentType)}/schema`, body, "body");
  if (status < 300 || problems.length > 0) return problems;
  const error: ErrorRecord = JSON.parse(body);
  if (error.status !== status) problems.push(`the body says status ${error.status}, the response ${status}`);
  if (!codes.includes(error.code)) problems.push(`code ${error.code} is not documented for this request`);
  return problems;
}

interface ErrorRecord {
  code: string;
  status: number;
}

function errorExamples(response: DocumentedResponse | undefined): ErrorRecord[] {
  return Object.values(response?.content?.["application/json"]?.examples ?? {}).map(
    ({ value }) => value as ErrorRecord,
  );
}

function codesOf(response: DocumentedResponse): string[] {
  return errorExamples(response).map(({ code }) => code);
}

/** Every number of the interface is an int64, which a JavaScript number can't hold, so its digits are checked. */
function jsonProblems(pointer: string, json: string, what: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(json, (_key, value: unknown, context?: { source: string }) => {
      if (typeof value === "number" && !isInt64(context?.source ?? "")) {
        throw new RangeError(`${context?.source} is not an int64`);
      }
      return value;
    });
  } catch (error) {
    return [`${what} is not what it should be: ${error}`];
  }
  return schemaProblems(pointer, value, what);
}
