import type { OutgoingHttpHeaders } from "node:http";
import { z } from "zod";
import { FunctionFailure, type FunctionResponse } from "../lambda/function-response.ts";

const headerValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const proxySchema = z.strictObject({
  statusCode: z.coerce.number().int().min(200).max(599).default(200),
  headers: z.record(z.string(), headerValue).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/**
 * Reads the HTTP response that a function of a Lambda proxy integration returned.
 *
 * @param streamed whether the integration streams; the function must do the same.
 * @throws FunctionFailure when the response is malformed.
 */
export function readProxyResponse(response: FunctionResponse, streamed: boolean) {
  const data = parse(response);
  if (data === undefined || streamed !== (response.kind === "streamed")) {
    throw new FunctionFailure("The function returned no Lambda proxy response");
  }
  const headers: OutgoingHttpHeaders = { "content-type": "application/json" };
  for (const [name, value] of Object.entries(data.headers ?? {}))
    headers[name.toLowerCase()] = value;
  const status = data.statusCode;
  if (response.kind === "streamed") return { status, headers, body: response.body };
  const body = Buffer.from(data.body ?? "", data.isBase64Encoded ? "base64" : "utf8");
  // RFC 9110: 204 and 304 have no length.
  if (status !== 204 && status !== 304) headers["content-length"] = body.length;
  return { status, headers, body };
}

function parse(response: FunctionResponse) {
  const returned: unknown =
    response.kind === "buffered" ? JSON.parse(response.payload) : response.prelude;
  return proxySchema.safeParse(returned ?? {}).data;
}
