// Copy this file: Node.js 22 or newer, no packages.

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

/** What a response says, undefined unless it is a success. */
type Read<T> = (status: number, body: string) => T | undefined;

const attempts = 5;

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
    if (!/^https?:\/\/[^\s/?#@][^\s?#@]*$/i.test(this.#baseUrl) || !URL.canParse(this.#baseUrl))
      throw new TypeError("The base address must look like https://HOST/v1");
    if (!/^[!-~]+$/.test(this.#apiKey))
      throw new TypeError("The API key is empty or has characters that no header can hold");
    if (!(timeout > 0 && timeout < 2 ** 31))
      throw new RangeError("The timeout must be a number of milliseconds from 1 to 2147483647");
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
        if (attempt === attempts || !(error instanceof ApiError && mayPass(error))) throw error;
        const seconds = error.retryAfter + Math.random() * 2 ** (attempt - 1);
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      }
    }
  }

  async #send<T>(method: string, path: string, read: Read<T>): Promise<T> {
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      const reason = new Error(`nothing for ${this.#timeout} ms`);
      timer = setTimeout(() => silence.abort(reason), this.#timeout);
    };
    let response: Response;
    let body: string;
    heard();
    try {
      response = await fetch(this.#baseUrl + path, {
        method,
        headers: { Authorization: `Bearer ${this.#apiKey}` },
        redirect: "manual", // Another host must not get the key.
        signal: silence.signal,
      });
      body = await textOf(response, heard);
    } catch (error) {
      throw new ApiError(this.#withoutKey(`No whole response: ${reasonOf(error)}`));
    } finally {
      clearTimeout(timer);
    }
    const { status, headers } = response;
    const result = read(status, body);
    if (result !== undefined) return result;
    const what = status < 400 ? "is not a response of the orders API: " : "";
    const retryAfter = /^\d{1,2}$/.exec(headers.get("Retry-After") ?? "");
    const message = this.#withoutKey(`${status} ${what}${body}`);
    throw new ApiError(message, status, codeOf(body), Number(retryAfter));
  }

  #withoutKey(text: string): string {
    return text.replaceAll(this.#apiKey, "API_KEY").slice(0, 500);
  }
}

/** Reads a body, and calls `heard` whenever a part of it arrives. */
async function textOf({ body }: Response, heard: () => void): Promise<string> {
  const parts = new TransformStream<Uint8Array, Uint8Array>({
    transform: (part, stream) => {
      heard();
      stream.enqueue(part);
    },
  });
  return await new Response(body?.pipeThrough(parts)).text();
}

/** Why a request got no response: Node.js puts that into the cause of its error. */
function reasonOf(error: unknown): string {
  const { cause = error } = Object(error);
  return cause.message || cause.code || String(cause);
}

/** Whether another attempt may help. */
function mayPass({ status, message }: ApiError): boolean {
  if (status === undefined) return !/certificate|wrong version|bad port/i.test(message);
  return status === 200 || status === 429 || status >= 500;
}

function codeOf(body: string): string | undefined {
  const { code } = Object(parse(body));
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
    if (context?.source === undefined) throw new Error("OrdersClient needs Node.js 22 or newer");
    return BigInt(context.source);
  });
}
