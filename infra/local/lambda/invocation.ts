import { addAbortListener } from "node:events";
import type { IncomingMessage } from "node:http";
import { PassThrough, pipeline, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";

/** One event on its way through a function. */
export interface Invocation {
  requestId: string;
  /** JSON text. */
  event: string;
  response: PromiseWithResolvers<FunctionResponse>;
  /** Aborts when no one waits for the response, or the rest of it, any more. */
  signal: AbortSignal;
}

export interface FunctionResponse {
  /** What the handler returned; for a stream, what it passed to `HttpResponseStream.from`. */
  returned: unknown;
  /** The stream. Fails when the function does. Destroying it stops the invocation. */
  body?: Readable;
}

/** A function threw, crashed, timed out or could not be loaded, or its response is malformed. */
export class FunctionFailure extends Error {
  override name = "FunctionFailure";
}

/** Eight zero bytes end the metadata of a stream. */
const delimiter = Buffer.alloc(8);

/**
 * Receives what the runtime posts: a response, or why there is none.
 *
 * @returns whether it came to its end. Otherwise its reader has left, or the process has ended.
 */
export async function receive(
  request: IncomingMessage,
  { response, signal }: Invocation,
): Promise<boolean> {
  // A destroyed request no longer has its socket.
  const { headers, socket, url } = request;
  try {
    if (url?.endsWith("/error")) throw readFailure(await text(request));
    if (headers["lambda-runtime-function-response-mode"] === "streaming") {
      const streamed = await readStream(request);
      using _ = addAbortListener(signal, () => streamed.body.destroy());
      response.resolve(streamed);
      await finished(streamed.body);
    } else response.resolve({ returned: JSON.parse(await text(request)) });
  } catch (error) {
    response.reject(new FunctionFailure(Object(error).message));
    if (!request.complete) socket.destroy();
  }
  return request.complete;
}

/**
 * Reads a streamed response up to its body: JSON metadata, a delimiter, the body.
 *
 * @throws FunctionFailure when the handler failed before its first byte, or streams without
 * metadata; SyntaxError when that is not JSON.
 */
async function readStream(request: IncomingMessage) {
  // Not a stream over a generator: destroying that would wait for the function's next byte.
  const body = new PassThrough({ flush: (done) => done(failureInTrailers(request)) });
  // A failure before anyone reads must not end this process.
  body.on("error", () => {});
  // A failure destroys the body, whose reader then sees it.
  pipeline(request, body, () => {});
  let head = Buffer.alloc(0);
  const chunks: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(delimiter);
    if (end < 0) continue;
    body.unshift(head.subarray(end + delimiter.length));
    return { returned: JSON.parse(head.toString("utf8", 0, end)) as unknown, body };
  }
  throw new FunctionFailure("The response has no HTTP metadata");
}

/** The failure that the runtime reports as JSON: `{"errorType","errorMessage","trace"}`. */
export function readFailure(json: string): FunctionFailure {
  return new FunctionFailure(JSON.parse(json).errorMessage);
}

/** The failure that the runtime reports after the last byte of a response. */
function failureInTrailers({ trailers }: IncomingMessage) {
  const report = trailers["lambda-runtime-function-error-body"];
  return report === undefined
    ? undefined
    : readFailure(Buffer.from(report, "base64").toString());
}
