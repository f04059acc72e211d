import type { OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { type FunctionAnswer, FunctionFailure } from "../lambda/function-answer.ts";

/** The HTTP answer in what a function of a Lambda proxy integration returned. */
export interface ProxyAnswer {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Buffer | Readable;
}

/** Headers that are the gateway's own business; a function's come out as `x-amzn-Remapped-...`. */
const remapped = new Set(["connection", "content-length", "date", "server", "www-authenticate"]);
const fields = new Set(["statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded", "cookies"]);

/**
 * Reads a function's answer.
 *
 * @param streamed whether the integration streams; a function that does the other thing answers nothing usable.
 * @throws FunctionFailure when the answer is malformed.
 */
export function readProxyAnswer(answer: FunctionAnswer, streamed: boolean): ProxyAnswer {
  const given: unknown = answer.kind === "buffered" ? JSON.parse(answer.payload) : answer.prelude;
  const record = new Map<string, unknown>(Object.entries(given ?? {}));
  const status = Number(record.get("statusCode") ?? 200);
  const body = record.get("body") ?? "";
  const known = typeof given === "object" && [...record.keys()].every((name) => fields.has(name));
  if (
    !known ||
    !(status >= 200 && status <= 599) ||
    typeof body !== "string" ||
    streamed !== (answer.kind === "streamed")
  ) {
    throw malformed();
  }
  const headers: OutgoingHttpHeaders = { "Content-Type": "application/json" };
  const all = { ...asObject(record.get("headers")), ...asObject(record.get("multiValueHeaders")) };
  for (const [name, value] of Object.entries(all)) {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    const texts = values.map(String);
    const key = name.toLowerCase();
    if (key === "content-type") headers["Content-Type"] = texts.join(",");
    else if (remapped.has(key)) headers[`x-amzn-Remapped-${name}`] = texts;
    else if (key !== "transfer-encoding") headers[name] = texts;
  }
  if (answer.kind === "streamed") return { status, headers, body: answer.body };
  // A status that has no body has no length either (RFC 9110).
  const bytes = Buffer.from(body, record.get("isBase64Encoded") === true ? "base64" : "utf8");
  if (status !== 204 && status !== 304) headers["Content-Length"] = bytes.length;
  return { status, headers, body: bytes };
}

function asObject(value: unknown): object {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw malformed();
  return value;
}

function malformed(): FunctionFailure {
  return new FunctionFailure(
    "MalformedProxyAnswer",
    "The function's answer is no answer of a Lambda proxy integration",
  );
}
