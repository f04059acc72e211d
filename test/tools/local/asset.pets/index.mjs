// What a function may do: each export is one of the functions in ../pets.ts.
import { once } from "node:events";
import { homedir } from "node:os";
import { finished, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export const echo = async (
  event,
  { awsRequestId, getRemainingTimeInMillis, invokedFunctionArn },
) => {
  return {
    event,
    awsRequestId,
    invokedFunctionArn,
    remaining: getRemainingTimeInMillis(),
    environment: process.env,
    limits: process.execArgv.slice(0, 3),
    home: homedir(),
  };
};

export const fail = async () => {
  throw new Error("a bug of the function");
};

export const crash = awslambda.streamifyResponse(async (_event, stream) => {
  await new Promise((sent) => stream.write("{", sent));
  exit();
});

export const exit = () => {
  process.stderr.write("the reason\n");
  process.exit(3);
};

export const hang = () => {
  console.log("hangs");
  return new Promise(() => setInterval(() => {}, 1000));
};

const open = (stream) => awslambda.HttpResponseStream.from(stream, { statusCode: 200 });

const chunks = (count) =>
  Readable.from(Array(count).keys()).map(
    (chunk) => {
      console.log({ chunk });
      return "x".repeat(65_536);
    },
    { concurrency: 1 },
  );

export const flood = awslambda.streamifyResponse(async (_event, stream) => {
  await pipeline(chunks(512), open(stream));
});

const signalled = once(process, "SIGUSR2");
// A further signal ends no process.
process.on("SIGUSR2", () => {});

export const breakOff = awslambda.streamifyResponse(async (_event, stream) => {
  const body = async function* () {
    yield "[1,2";
    await signalled;
    throw new Error("the source broke");
  };
  await pipeline(Readable.from(body()), open(stream));
});

export const waiting = awslambda.streamifyResponse(async (_event, stream) => {
  // As an open connection to a table does, it keeps the process alive.
  const busy = setInterval(() => {}, 1000);
  const body = async function* () {
    yield "[";
    await signalled;
    clearInterval(busy);
    yield "]";
  };
  const source = Readable.from(body());
  finished(source, (error) => error && console.log("the source is destroyed"));
  const response = open(stream);
  response.once("error", () => console.log("the connection is broken"));
  await pipeline(source, response);
});

export const late = awslambda.streamifyResponse(async (count, stream) => {
  console.log("waits", count);
  await signalled;
  await pipeline(chunks(count), open(stream));
});

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
