// Copy this file: Node.js 22 or newer, no packages.
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";

/** Every integer is exact: a `number` where that is safe, a `bigint` beyond. */
export interface Order {
  id?: number | bigint;
  petId?: number | bigint;
  quantity?: number | bigint;
  shipDate?: string;
  complete?: boolean;
}

/** A failed request. It never contains the API key. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** Undefined when no whole response arrived. */
  readonly status: number | undefined;
  /** Undefined in a response that isn't the API's own. */
  readonly code: string | undefined;
  /** The least number of seconds to wait before another attempt, from 0 to 99. */
  readonly retryAfter: number;

  constructor(message: string, status?: number, code?: string, retryAfter = 0) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Reads a response. Returns undefined unless it is a success. */
type Read<T> = (status: number, body: string) => T | undefined;

const attempts = 5;

/** HTTPS, or HTTP on this machine: nobody on the way may read the key. */
const baseAddress =
  /^(https:\/\/[^\s/?#@\\]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)(\/[^\s?#]*)?\/v1$/i;

export class OrdersClient {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #timeout: number;

  /**
   * @param baseUrl ends in `/v1`.
   * @param options.timeout the milliseconds after which a silent connection counts as lost.
   * @throws Error when Node.js is too old, or a parameter can't be right.
   */
  constructor(baseUrl: string, apiKey: string, { timeout = 60_000 } = {}) {
    parseExactly("9007199254740993");
    this.#baseUrl = baseUrl.trim().replace(/\/+$/, "");
    this.#apiKey = apiKey.trim();
    this.#timeout = timeout;
    // No message shows a parameter: it may be the key, in the wrong place.
    if (!baseAddress.test(this.#baseUrl) || !URL.canParse(this.#baseUrl))
      throw new TypeError(
        "The base address must look like https://HOST/v1; http:// is for this machine only",
      );
    if (!/^[!-~]+$/.test(this.#apiKey))
      throw new TypeError("The API key is empty or has a character that no key has");
    if (!(timeout > 0 && timeout < 2 ** 31))
      throw new RangeError(
        "The timeout must be a number of milliseconds from 1 to 2147483647",
      );
  }

  async listOrders(): Promise<Order[]> {
    return await this.#request("GET", "/store/orders", (status, body) => {
      const list = status === 200 ? parse(body) : undefined;
      return Array.isArray(list) ? list : undefined;
    });
  }

  /**
   * Resolves once the order is cancelled, by this request or before.
   *
   * @throws RangeError for a number that may have lost digits: pass a bigint.
   */
  async cancelOrder(id: number | bigint): Promise<void> {
    if (typeof id !== "bigint" && !Number.isSafeInteger(id))
      throw new RangeError(`${id} is not an exact integer: pass the id as a bigint`);
    await this.#request("DELETE", `/store/orders/${id}`, (status, body) => {
      const isRepeated = status === 409 && codeOf(body) === "order_already_cancelled";
      return status === 204 || isRepeated || undefined;
    });
  }

  /** Sends a request, up to five times while another attempt may help. */
  async #request<T>(method: string, path: string, read: Read<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send(method, path, read);
      } catch (error) {
        if (attempt === attempts || !(error instanceof ApiError && mayPass(error)))
          throw error;
        const seconds = error.retryAfter + Math.random() * 2 ** (attempt - 1);
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      }
    }
  }

  async #send<T>(method: string, path: string, read: Read<T>): Promise<T> {
    let response: IncomingMessage;
    let body: string;
    try {
      response = await this.#open(method, path);
      body = await textOf(response);
    } catch (error) {
      // When all of a host's addresses fail, only their own errors say why.
      const reason = error instanceof AggregateError ? error.errors : error;
      const what = error instanceof RangeError ? "Too long a list" : "No whole response";
      throw new ApiError(this.#withoutKey(`${what}: ${reason}`));
    }
    const { statusCode: status = 0, headers } = response;
    const result = read(status, body);
    if (result !== undefined) return result;
    const what = status < 400 ? "is not a response of the orders API: " : "";
    const retryAfter = /^\d{1,2}$/.exec(headers["retry-after"] ?? "");
    const id = `(x-amzn-RequestId: ${headers["x-amzn-requestid"] ?? "none"})`;
    const message = this.#withoutKey(`${status} ${id} ${what}${body}`);
    throw new ApiError(message, status, codeOf(body), Number(retryAfter));
  }

  /** Sends a request, with Node's own client: its `fetch` can crash on a long compressed list. */
  async #open(method: string, path: string): Promise<IncomingMessage> {
    const url = new URL(this.#baseUrl + path);
    const isHttps = url.protocol === "https:";
    const { request } = isHttps ? https : http;
    const headers = {
      Authorization: `Bearer ${this.#apiKey}`,
      "Accept-Encoding": "gzip",
      // Web ACLs of AWS block requests without it.
      "User-Agent": "orders-client",
    };
    return await new Promise((resolve, reject) => {
      let response: IncomingMessage | undefined;
      const sent = request(
        url,
        {
          // Plain HTTP must not use the global agent, which may send the key to a proxy.
          ...(!isHttps && { agent: false }),
          method,
          headers,
          timeout: this.#timeout,
        },
        (message) => {
          response = message;
          resolve(message);
        },
      );
      sent.on("timeout", () => {
        (response ?? sent).destroy(new Error(`nothing for ${this.#timeout} ms`));
      });
      sent.on("error", reject).end();
    });
  }

  #withoutKey(message: string) {
    return message.replaceAll(this.#apiKey, "API_KEY").slice(0, 500);
  }
}

async function textOf(response: IncomingMessage) {
  const { headers, statusCode } = response;
  const isGzip =
    statusCode !== 204 && /^(x-)?gzip$/i.test(headers["content-encoding"] ?? "");
  return await text(isGzip ? pipeline(response, createGunzip(), () => {}) : response);
}

/** Whether another attempt may help. */
function mayPass({ status, message }: ApiError) {
  if (status === undefined) return !/certificate|RangeError|wrong version/i.test(message);
  return status === 200 || status === 429 || status >= 500;
}

function codeOf(body: string) {
  const error = parse(body);
  const code = error instanceof Object && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[a-z_]+$/.test(code) ? code : undefined;
}

function parse(json: string): unknown {
  try {
    return parseExactly(json);
  } catch {
    return undefined;
  }
}

/** Parses JSON. An integer that a `number` can't hold becomes a `bigint`, from its own digits. */
function parseExactly(json: string): unknown {
  return JSON.parse(json, (_key, value, context?: { source?: string }) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
    if (context?.source === undefined)
      throw new Error("OrdersClient needs Node.js 22 or newer");
    return BigInt(context.source);
  });
}
