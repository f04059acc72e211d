import type { IncomingMessage } from "node:http";
import { PassThrough, pipeline, type Readable } from "node:stream";
import { finished } from "node:stream/promises";

/**
 * A function's response: the JSON text its handler returned, or a stream behind its metadata (the
 * prelude).
 */
export type FunctionResponse = { kind: "buffered"; payload: string } | StreamedResponse;

export interface StreamedResponse {
  kind: "streamed";
  /** The metadata that the function passed to `HttpResponseStream.from`. */
  prelude: unknown;
  /** Fails when the function does. Destroying it stops the invocation. */
  body: Readable;
}

/** A function threw, crashed, timed out or could not be loaded, or its response is malformed. */
export class FunctionFailure extends Error {
  override name = "FunctionFailure";
}

const preludeType = "application/vnd.awslambda.http-integration-response";
/** Eight zero bytes end the prelude. */
const delimiter = Buffer.alloc(8);

/**
 * Reads a streamed response that the runtime posts, up to its body.
 *
 * @throws FunctionFailure when the handler failed before its first byte, or streams without a
 * prelude; SyntaxError when that is not JSON.
 */
export async function readStreamedResponse(
  request: IncomingMessage,
): Promise<StreamedResponse> {
  const prelude =
    request.headers["content-type"] === preludeType
      ? await readPrelude(request)
      : undefined;
  if (prelude === undefined) {
    request.resume();
    await finished(request);
    throw (
      failureInTrailers(request) ?? new FunctionFailure("The response has no HTTP metadata")
    );
  }
  // Not a stream over a generator: destroying that would wait for the function's next byte.
  const body = new PassThrough({ flush: (done) => done(failureInTrailers(request)) });
  // A failure before anyone reads must not end this process.
  body.on("error", () => {});
  // A failure destroys the body, whose reader then sees it.
  pipeline(request, body, () => {});
  return { kind: "streamed", prelude: JSON.parse(prelude), body };
}

/** Reads the prelude, JSON text; undefined if the response ends before the delimiter. */
async function readPrelude(request: IncomingMessage): Promise<string | undefined> {
  let head = Buffer.alloc(0);
  const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(delimiter);
    if (end < 0) continue;
    request.unshift(head.subarray(end + delimiter.length));
    return head.toString("utf8", 0, end);
  }
  return undefined;
}

/** The failure that the runtime reports as JSON: `{"errorType","errorMessage","trace"}`. */
export function reportedFailure(json: string): FunctionFailure {
  // The runtime leaves the message out when the error that a handler throws has none.
  const { errorMessage = "The error has no message" } = Object(JSON.parse(json));
  return new FunctionFailure(errorMessage);
}

/** The failure that the runtime reports after the last byte of a response. */
function failureInTrailers({ trailers }: IncomingMessage): FunctionFailure | undefined {
  const report = trailers["lambda-runtime-function-error-body"];
  return report === undefined
    ? undefined
    : reportedFailure(Buffer.from(report, "base64").toString());
}
