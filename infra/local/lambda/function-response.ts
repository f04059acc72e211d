import type { IncomingMessage } from "node:http";
import { PassThrough, pipeline, type Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { z } from "zod";

/**
 * A function's response: the JSON text its handler returned, or a stream behind its metadata (the
 * prelude).
 */
export type FunctionResponse = { kind: "buffered"; payload: string } | StreamedResponse;

export interface StreamedResponse {
  kind: "streamed";
  /**
   * The metadata that the function passed to `HttpResponseStream.from`, parsed; undefined when it
   * is not JSON.
   */
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
 * prelude.
 */
export async function readStreamedResponse(request: IncomingMessage): Promise<StreamedResponse> {
  const head =
    request.headers["content-type"] === preludeType ? await readHead(request) : undefined;
  if (head === undefined) {
    request.resume();
    await finished(request);
    throw failureInTrailers(request) ?? new FunctionFailure("The response has no HTTP metadata");
  }
  const body = bodyOf(request);
  if (head.rest.length > 0) body.write(head.rest);
  // A failure destroys the body, whose reader then sees it.
  pipeline(request, body, () => {});
  return { kind: "streamed", prelude: head.prelude, body };
}

/**
 * Reads the prelude, and the part of the body that came with it; undefined if the response ends
 * before the delimiter.
 */
async function readHead(request: IncomingMessage) {
  let head = Buffer.alloc(0);
  const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(delimiter);
    if (end >= 0) {
      return {
        prelude: parsed(head.toString("utf8", 0, end)),
        rest: head.subarray(end + delimiter.length),
      };
    }
  }
  return undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

// The runtime leaves the message out when the error that a handler throws has none.
const report = z.object({ errorMessage: z.string().default("The error has no message") });

/** The failure that the runtime reports as JSON: `{"errorType","errorMessage","trace"}`. */
export function reportedFailure(json: string): FunctionFailure {
  return new FunctionFailure(report.parse(JSON.parse(json)).errorMessage);
}

/**
 * Makes the stream for a response's body. It ends like the response: with an error if the runtime
 * reports one after the last byte. It is not one over a generator, because destroying that would
 * wait for the function's next byte.
 */
function bodyOf(request: IncomingMessage): PassThrough {
  const body = new PassThrough({ flush: (done) => done(failureInTrailers(request)) });
  // A failure before anyone reads must not end this process.
  return body.on("error", () => {});
}

function failureInTrailers({ trailers }: IncomingMessage): FunctionFailure | undefined {
  if (trailers["lambda-runtime-function-error-type"] === undefined) return undefined;
  return reportedFailure(
    Buffer.from(trailers["lambda-runtime-function-error-body"] ?? "", "base64").toString(),
  );
}
