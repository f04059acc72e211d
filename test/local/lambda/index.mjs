// Handlers that do what a function may do, for the tests of the Lambda host.
import { once } from "node:events";
import { homedir } from "node:os";
import { finished, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export const echo = async (
  event,
  { awsRequestId, getRemainingTimeInMillis, invokedFunctionArn },
) => ({
  event,
  awsRequestId,
  invokedFunctionArn,
  remaining: getRemainingTimeInMillis(),
  environment: process.env,
  limits: process.execArgv.slice(0, 3),
  home: homedir(),
});

export const fail = async () => {
  throw new Error("Unauthorized");
};

export const failSilently = async () => {
  throw Object.assign(new Error(), { message: undefined });
};

export const crash = async () => {
  process.stderr.write("the reason of the crash\n");
  process.exit(3);
};

export const hang = () => {
  console.log("hangs");
  return new Promise(() => setInterval(() => {}, 1000));
};

/** Fills its heap, an eighth of a million numbers to the megabyte. */
export const grow = async ({ megabytes }) => {
  const kept = Array.from({ length: megabytes }, (_, index) =>
    new Array(131_072).fill(index + 0.5),
  );
  return { grown: kept.length };
};

const open = (stream) => awslambda.HttpResponseStream.from(stream, { statusCode: 200 });

/** 64 MB, each chunk announced in the log. */
export const flood = awslambda.streamifyResponse(async (_event, stream) => {
  const chunks = Array.from({ length: 1024 }, (_, chunk) => chunk);
  const body = Readable.from(chunks).map(
    (chunk) => {
      console.log({ chunk });
      return "x".repeat(65_536);
    },
    { concurrency: 1 },
  );
  await pipeline(body, open(stream));
});

const signalled = once(process, "SIGUSR2");

/** The stream is destroyed by its source, once the process gets SIGUSR2. */
export const breakOff = awslambda.streamifyResponse(async (_event, stream) => {
  const body = async function* () {
    yield "[1,2";
    await signalled;
    throw new Error("the source broke");
  };
  await pipeline(Readable.from(body()), open(stream));
});

/** Streams a second byte once the process gets SIGUSR2. Logs how it learns that no one reads. */
export const waiting = awslambda.streamifyResponse(async (_event, stream) => {
  // As an open connection to a table does, it keeps the process alive.
  const busy = setInterval(() => {}, 1000);
  const body = Readable.from(
    (async function* () {
      yield "[";
      await signalled;
      clearInterval(busy);
      yield "]";
    })(),
  );
  finished(body, (error) => error && console.log({ reader: "left" }));
  const response = open(stream);
  response.once("error", () => console.log({ connection: "broken" }));
  await pipeline(body, response);
});

/** Streams 64 MB, but nothing before the process gets SIGUSR2. */
export const late = awslambda.streamifyResponse(async (_event, stream) => {
  console.log("waits");
  await signalled;
  await pipeline(Readable.from(Array(1024).fill("x".repeat(65_536))), open(stream));
});

/** The handler throws when it has written: the runtime ends the stream with error trailers. */
export const throwLate = awslambda.streamifyResponse(async (_event, stream) => {
  open(stream).write("[1,2");
  throw new Error("too late");
});

export const throwFirst = awslambda.streamifyResponse(async () => {
  throw new Error("before the first byte");
});

export const noPrelude = awslambda.streamifyResponse(async (_event, stream) => {
  stream.end("meow");
});

export const badPrelude = awslambda.streamifyResponse(async (_event, stream) => {
  stream.setContentType("application/vnd.awslambda.http-integration-response");
  stream.write("no JSON");
  stream.write(Buffer.alloc(8));
  stream.end("meow");
});
