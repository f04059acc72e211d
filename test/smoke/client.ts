import { type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { buffer } from "node:stream/consumers";
import { TLSSocket } from "node:tls";
import { gunzipSync } from "node:zlib";

export interface Answer {
  status: number;
  /** By lower-case name. */
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  body: string;
  /** Bytes of the body on the wire. */
  received: number;
  firstByteMilliseconds: number;
  milliseconds: number;
  /** Like `TLSv1.3`; undefined without TLS. */
  tls: string | undefined;
}

export interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Instead of the client's key; null sends none. */
  key?: string | null;
}

/** How long a server may say nothing, in milliseconds. */
const patience = 30_000;

/** Sends requests to one base address, with one API key. */
export class Client {
  readonly #baseUrl: URL;
  readonly apiKey: string;

  /** @param baseUrl ends in `/v1`. */
  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = new URL(baseUrl);
    this.apiKey = apiKey;
  }

  /**
   * One request over a connection of its own.
   *
   * @param path below the base address, sent as it is.
   * @throws Error that says what went wrong with the connection; an answer that is cut off is none.
   */
  async send(path: string, { method = "GET", headers = {}, body, key = this.apiKey }: Request = {}): Promise<Answer> {
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
    const begun = performance.now();
    const answered = Promise.withResolvers<Answer>();
    const open = this.#baseUrl.protocol === "https:" ? requestHttps : requestHttp;
    const sent = open(this.#baseUrl.origin, {
      method,
      path: this.#baseUrl.pathname + path,
      headers: { "accept-encoding": "gzip", ...authorization, ...headers },
      agent: false,
      timeout: patience,
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${patience / 1000} s`)));
    sent.on("error", answered.reject);
    sent.on("response", (response) => {
      const firstByteMilliseconds = performance.now() - begun;
      const { socket } = response;
      const tls = socket instanceof TLSSocket ? (socket.getProtocol() ?? undefined) : undefined;
      buffer(response)
        .then((bytes) => {
          const gzip = response.headers["content-encoding"] === "gzip";
          answered.resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: (gzip ? gunzipSync(bytes) : bytes).toString(),
            received: bytes.length,
            firstByteMilliseconds,
            milliseconds: performance.now() - begun,
            tls,
          });
        })
        .catch(answered.reject);
    });
    sent.end(body);
    return answered.promise;
  }
}
