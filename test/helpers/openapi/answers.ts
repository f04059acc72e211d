import type { Answer } from "../answer.ts";
import { document, follow, operations, pointerPart, type Response } from "./document.ts";
import { schemaProblems } from "./schemas.ts";

/** Headers that belong to the connection or to the gateway, not to the interface. Content-Type is held to the content. */
const transportHeaders = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);
/** AWS adds these as it likes: request ids, traces, the type of a gateway response. */
const awsHeader = /^x-amzn?-/;

/** What may answer a request that is for no operation, besides the 404 and the 405 that its path calls for. */
const refusals = ["BadRequest", "Forbidden", "RequestTooLarge", "UnsupportedMediaType", "TooManyRequests"];

/** Codes that only a request for no operation may get. */
const codesElsewhere = ["resource_not_found", "method_not_allowed", "unsupported_media_type"];

/** The part of the document that an answer is held to. */
interface Documented {
  response: Response;
  pointer: string;
  /** The error codes it may have. */
  codes: string[];
}

/**
 * Asserts that the OpenAPI document describes this answer.
 *
 * @param path the path and query of the request, relative to the base address: `/store/orders/1`.
 * @throws Error that names everything the document does not describe.
 */
export function expectDocumented(method: string, path: string, answer: Answer): void {
  const problems = undocumented(method, path, answer);
  if (problems.length === 0) return;
  throw new Error(`shared/openapi.yaml does not describe the answer to ${method} ${path}:\n${problems.join("\n")}`);
}

/**
 * Everything about an answer that the OpenAPI document does not describe: its status, every header, the content type
 * and the whole body. An answer to a request for no operation must be the one of `components.responses` that its path
 * calls for.
 *
 * @param path the path and query of the request, relative to the base address: `/store/orders/1`.
 */
export function undocumented(method: string, path: string, answer: Answer): string[] {
  const documented = describedFor(method, path.replace(/[?#].*$/s, ""), answer.status);
  if (documented === undefined) return [`status ${answer.status} is not documented: ${answer.body}`];
  return [...headerProblems(documented, answer), ...(method === "HEAD" ? [] : bodyProblems(documented, answer))];
}

function describedFor(method: string, path: string, status: number): Documented | undefined {
  const here = operations.filter((operation) => pathPattern(operation.path).test(path));
  const match = here.find((operation) => operation.method === method);
  const { responses } = document.components;
  if (match !== undefined) {
    const reference = match.operation.responses[status];
    if (reference === undefined) return undefined;
    const [response, pointer] = follow(reference, `${match.pointer}/responses/${status}`);
    return { response, pointer, codes: codesOf(response).filter((code) => !codesElsewhere.includes(code)) };
  }
  const names = [here.length > 0 ? "MethodNotAllowed" : "NotFound", ...refusals];
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

function headerProblems({ response: { headers = {} }, pointer }: Documented, answer: Answer): string[] {
  const problems: string[] = [];
  const sent = new Map(Object.entries(answer.headers));
  for (const [name, reference] of Object.entries(headers)) {
    const [header, headerPointer] = follow(reference, `${pointer}/headers/${pointerPart(name)}`);
    const value = sent.get(name.toLowerCase());
    sent.delete(name.toLowerCase());
    if (value !== undefined) problems.push(...schemaProblems(`${headerPointer}/schema`, value, `header ${name}`));
    else if (header.required) problems.push(`header ${name} is missing`);
  }
  for (const name of sent.keys()) {
    if (!transportHeaders.has(name) && !awsHeader.test(name)) problems.push(`header ${name} is not documented`);
  }
  return problems;
}

function bodyProblems({ response: { content }, pointer, codes }: Documented, answer: Answer): string[] {
  if (content === undefined) return answer.body === "" ? [] : [`a body is not documented: ${answer.body}`];
  const contentType = answer.headers["content-type"] ?? "";
  if (content[contentType] === undefined) return [`content type ${contentType} is not documented`];
  const body = parseInt64(answer.body);
  if (typeof body === "string") return [body];
  const problems = schemaProblems(`${pointer}/content/${pointerPart(contentType)}/schema`, body.value, "body");
  if (answer.status < 300 || problems.length > 0) return problems;
  const { code, status } = body.value as ErrorRecord;
  if (status !== answer.status) problems.push(`the body says status ${status}, the answer ${answer.status}`);
  if (!codes.includes(code)) problems.push(`code ${code} is not documented for this request`);
  return problems;
}

interface ErrorRecord {
  code: string;
  status: number;
}

function errorExamples(response: Response | undefined): ErrorRecord[] {
  return Object.values(response?.content?.["application/json"]?.examples ?? {}).map(
    ({ value }) => value as ErrorRecord,
  );
}

function codesOf(response: Response): string[] {
  return errorExamples(response).map(({ code }) => code);
}

/** The JSON value, or what is wrong with the text. Every number of the interface is an int64, which a number is not. */
function parseInt64(text: string): { value: unknown } | string {
  try {
    const value = JSON.parse(text, (_key, value: unknown, context?: { source: string }) => {
      const { source = "" } = context ?? {};
      if (typeof value === "number" && !isInt64(source)) throw new RangeError(`${source} is not a 64-bit integer`);
      return value;
    });
    return { value };
  } catch (error) {
    return `body is not what it should be: ${error}`;
  }
}

function isInt64(source: string): boolean {
  return /^-?\d+$/.test(source) && BigInt.asIntN(64, BigInt(source)) === BigInt(source);
}
