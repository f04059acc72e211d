import type { Readable } from "node:stream";
import { z } from "zod";
import type { FunctionResponse } from "../lambda/function-response.ts";

/** An HTTP response of the API. It is JSON unless a header says otherwise. */
export interface ApiResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Readable;
}

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
export function readProxyResponse(
  response: FunctionResponse,
  streamed: boolean,
): ApiResponse {
  const isStreamed = response.kind === "streamed";
  if (streamed !== isStreamed)
    throw new Error(
      `The integration's transfer mode is ${streamed ? "STREAM" : "BUFFERED"}`,
    );
  const returned: unknown = isStreamed ? response.prelude : JSON.parse(response.payload);
  const { statusCode: status, headers, body } = proxySchema.parse(returned);
  return { status, headers, body: isStreamed ? response.body : body };
}
