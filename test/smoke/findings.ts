import { checkError, excerpt } from "./check.ts";
import type { Answer, Client, Request } from "./client.ts";

/** Something of which nobody could say beforehand how API Gateway does it. Whatever it does, it fails nothing. */
export interface Question {
  question: string;
  ask(client: Client): Promise<string>;
}

/** How a stage answers a request of which no promise speaks. */
function answerTo(question: string, path: string, request: (apiKey: string) => Request = () => ({})): Question {
  return { question, ask: async (client) => describe(await client.send(path, request(client.apiKey))) };
}

/** What there is to learn from a real stage and can be seen from outside. None of it changes an order. */
export const questions: Question[] = [
  {
    question: "the connection",
    ask: async (client) => {
      const { tls, headers } = await client.send("/store/orders");
      return `${tls ?? "no TLS"}; headers ${Object.keys(headers).sort().join(", ")}`;
    },
  },
  {
    question: "the list on the wire",
    ask: async (client) => {
      const { firstByteMilliseconds, milliseconds, received, body, headers } = await client.send("/store/orders");
      const encoding = headers["content-encoding"] ?? "not compressed";
      const times = `the first after ${firstByteMilliseconds.toFixed()} ms, the last after ${milliseconds.toFixed()} ms`;
      return `${encoding}, ${received} bytes for ${body.length} characters, ${times}`;
    },
  },
  answerTo("GET below an order", "/store/orders/1/items"),
  answerTo("GET with a slash at the end", "/store/orders/"),
  answerTo("GET of the base address with a slash", "/"),
  answerTo("HEAD", "/store/orders", () => ({ method: "HEAD" })),
  answerTo("PURGE", "/store/orders", () => ({ method: "PURGE" })),
  answerTo("POST of a form", "/store/orders", () => post("application/x-www-form-urlencoded", "a=b")),
  answerTo("POST of an unheard-of type", "/store/orders", () => post("application/x-protobuf", "x")),
  answerTo("POST of 11 MB", "/store/orders", () => post("application/json", Buffer.alloc(11_000_000, " "))),
  answerTo("DELETE with a body", "/store/orders/none", () => ({ method: "DELETE", body: "{}" })),
  answerTo("a key and one character more", "/store/orders", (apiKey) => ({ key: `${apiKey}x` })),
  answerTo("AWS's own scheme", "/nope", () => ({ key: null, headers: { authorization: "AWS4-HMAC-SHA256 x" } })),
  {
    question: "one bad key three times",
    ask: async (client) => {
      const key = `${client.apiKey.slice(0, 10)}${"0".repeat(49)}`;
      const times: string[] = [];
      while (times.length < 3) times.push((await client.send("/store/orders", { key })).milliseconds.toFixed());
      return `refused after ${times.join(", ")} ms`;
    },
  },
];

function post(contentType: string, body: string | Buffer): Request {
  return { method: "POST", headers: { "content-type": contentType }, body };
}

/** What an answer is, in one line. */
function describe(answer: Answer): string {
  const { status, headers, body } = answer;
  const what = body === "" ? "no body" : isErrorRecord(answer) ? "an Error record" : `the body ${excerpt(body)}`;
  return `${status}, ${headers["content-type"] ?? "no content type"}, ${what}`;
}

function isErrorRecord(answer: Answer): boolean {
  try {
    checkError(answer, answer.status, JSON.parse(answer.body).code);
    return true;
  } catch {
    return false;
  }
}
