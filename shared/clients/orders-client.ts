// Copy this file: Node.js 22 or newer, no packages.

/** Every integer is exact: a `number` where that is safe, a `bigint` beyond. */
export interface Order {
  id?: number | bigint;
  petId?: number | bigint;
  quantity?: number | bigint;
  shipDate?: string;
  complete?: boolean;
}

/** A response other than a success. */
export class ApiError extends Error {
  readonly status: number;
  /** Undefined in a response of AWS's own. */
  readonly code: string | undefined;
  /** The least number of seconds to wait after a 429. */
  readonly retryAfter: number;

  constructor(status: number, body: string, retryAfter: number) {
    super(`${status} ${body}`);
    this.status = status;
    this.code = codeOf(body);
    this.retryAfter = retryAfter;
  }
}

function codeOf(body: string): string | undefined {
  try {
    return JSON.parse(body).code;
  } catch {
    return undefined;
  }
}

const attempts = 5;

export class OrdersClient {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  /** @param baseUrl ends in `/v1`. */
  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl.replace(/\/$/, "");
    this.#apiKey = apiKey;
  }

  async listOrders(): Promise<Order[]> {
    return await this.#request("GET", "/store/orders", (body) => JSON.parse(body, exactly));
  }

  /**
   * Resolves once the order is cancelled, by this request or before.
   *
   * @throws RangeError for a number that may have lost digits: pass a bigint.
   */
  async cancelOrder(id: number | bigint): Promise<void> {
    if (typeof id === "number" && !Number.isSafeInteger(id)) {
      throw new RangeError(`${id} is not an exact integer: pass the id as a bigint`);
    }
    try {
      await this.#request("DELETE", `/store/orders/${id}`, () => {});
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "order_already_cancelled")) throw error;
    }
  }

  /** Sends a request, up to five times while another attempt may help, and reads its response. */
  async #request<T>(method: string, path: string, read: (body: string) => T): Promise<T> {
    const headers = { Authorization: `Bearer ${this.#apiKey}` };
    // Before the loop: a malformed address or key is not retried like a lost connection.
    const request = new Request(this.#baseUrl + path, { method, headers });
    for (let attempt = 1; ; attempt++) {
      try {
        return read(await send(request));
      } catch (error) {
        const seconds = pauseAfter(error, attempt);
        if (attempt === attempts || seconds === undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      }
    }
  }
}

/** @returns the body of the response. @throws ApiError unless it is a success. */
async function send(request: Request): Promise<string> {
  const response = await fetch(request);
  const body = await response.text();
  if (response.ok) return body;
  throw new ApiError(response.status, body, Number(response.headers.get("Retry-After")));
}

/** The seconds to wait before the next attempt, undefined when it can't help. */
function pauseAfter(error: unknown, attempt: number): number | undefined {
  const longer = Math.random() * 2 ** (attempt - 1);
  if (!(error instanceof ApiError)) return longer; // Lost, or cut off midway.
  if (error.status === 429) return error.retryAfter + Math.random();
  return error.status >= 500 ? longer : undefined;
}

/** Makes an integer that a `number` can't hold a `bigint`, from its own digits. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  if (context?.source === undefined) throw new Error("Integers need Node.js 22 or newer");
  return BigInt(context.source);
}
