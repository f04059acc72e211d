import type { OutgoingHttpHeaders } from "node:http";
import { z } from "zod";
import type { FunctionResponse } from "../lambda/function-response.ts";

/** The result of a function that is supported: text, with one value for a header. */
const proxySchema = z.strictObject({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(""),
});

/**
 * Reads the HTTP response that a function of a Lambda proxy integration returned.
 *
 * @param streamed whether the integration streams; the function must do the same.
 * @throws ZodError when the response is not supported; Error when only one of the two streams.
 */
export function readProxyResponse(response: FunctionResponse, streamed: boolean) {
  const isStreamed = response.kind === "streamed";
  if (streamed !== isStreamed)
    throw new Error(`The integration's transfer mode is ${streamed ? "STREAM" : "BUFFERED"}`);
  const returned: unknown = isStreamed ? response.prelude : JSON.parse(response.payload);
  const { statusCode: status, headers: given, body: text } = proxySchema.parse(returned);
  const headers: OutgoingHttpHeaders = { "content-type": "application/json" };
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
  if (isStreamed) return { status, headers, body: response.body };
  const body = Buffer.from(text);
  // RFC 9110: 204 and 304 have no length.
  if (status !== 204 && status !== 304) headers["content-length"] = body.length;
  return { status, headers, body };
}
