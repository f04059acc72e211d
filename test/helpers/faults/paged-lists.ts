import { type Behaviour, type EngineCall, type Exchange, passOn } from "./fault-proxy.ts";

/** Decides the outcome of an attempt to read a page of a list. Pages and attempts count from 1. */
export type PageChoice = (page: number, attempt: number) => Behaviour | undefined;

/** A list under way. */
interface Scan {
  name: string;
  choose: PageChoice;
}

/**
 * Tells lists apart at the proxy and makes their pages small, so that each page of each list can meet a fault of its
 * own. A list's name travels in the key that the engine gives for the next page, which functions hand back untouched.
 */
export class PagedLists {
  readonly #pageSize: number;
  readonly #scans = new Map<string, Scan>();
  #expected: { choose: PageChoice; begun: () => void } | undefined;
  #turn = Promise.resolve();

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  /** Starts a list whose pages meet what `choose` says. Resolves with what `start` resolves with. */
  async begin<T>(choose: PageChoice, start: () => Promise<T>): Promise<T> {
    // The request for a first page does not say which list it is for, so one list begins at a time.
    const turn = this.#turn;
    const begun = Promise.withResolvers<void>();
    this.#turn = begun.promise;
    await turn;
    this.#expected = { choose, begun: begun.resolve };
    return start().finally(begun.resolve);
  }

  /** The proxy's choice for any call. */
  readonly choose = (call: EngineCall): Behaviour | undefined => {
    if (call.operation !== "Scan") return undefined;
    const { ExclusiveStartKey: { list, page, ...after } = { list: undefined, page: undefined }, ...input } = JSON.parse(
      call.input,
    );
    // A function that starts reads one order, to be ready.
    if (input.Limit !== undefined) return undefined;
    const scan = list === undefined ? this.#firstPage(call.invocation) : this.#scans.get(list.S);
    if (scan === undefined) return undefined;
    const number = page === undefined ? 1 : Number(page.N);
    const small = { ...input, ...(list && { ExclusiveStartKey: after }), Limit: this.#pageSize };
    const behaviour = scan.choose(number, call.attempt) ?? passOn;
    return (exchange) => behaviour({ ...exchange, forward: () => forward(exchange, small, scan.name, number) });
  };

  #firstPage(invocation: string): Scan | undefined {
    const known = this.#scans.get(invocation);
    if (known !== undefined || this.#expected === undefined) return known;
    const { choose, begun } = this.#expected;
    const scan = { name: invocation, choose };
    this.#scans.set(invocation, scan);
    this.#expected = undefined;
    begun();
    return scan;
  }
}

async function forward(exchange: Exchange, input: object, list: string, page: number) {
  const engineResponse = await exchange.forward(JSON.stringify(input));
  const output = JSON.parse(engineResponse.body.toString());
  if (output.LastEvaluatedKey !== undefined) {
    Object.assign(output.LastEvaluatedKey, { list: { S: list }, page: { N: String(page + 1) } });
  }
  const body = Buffer.from(JSON.stringify(output));
  const { "x-amz-crc32": _, ...headers } = engineResponse.headers;
  return { ...engineResponse, headers: { ...headers, "content-length": String(body.length) }, body };
}
