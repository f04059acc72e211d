import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRestApi } from "../template/rest-api.ts";
import { readStack, type SynthesisedStack, synthesise } from "../template/synthesis.ts";
import { readFunctions } from "./functions.ts";
import { Gateway, type GatewayOptions } from "./gateway/gateway.ts";
import { createLambdaHost, type LambdaHost, type LambdaHostOptions } from "./lambda/lambda-host.ts";

/** A synthesised stack; disposing it removes its files. */
export interface Build extends SynthesisedStack, AsyncDisposable {}

/**
 * Synthesises the staging stack into a directory of its own.
 *
 * @param assembly a directory that it is in already, used as it is.
 */
export async function build(signal: AbortSignal, assembly?: string): Promise<Build> {
  if (assembly !== undefined) return { ...(await readStack(assembly)), [Symbol.asyncDispose]: async () => {} };
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-"));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    await synthesise(directory, signal);
    return { ...(await readStack(directory)), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The gateway and the functions of one build. */
export class Service {
  readonly host: LambdaHost;
  readonly stageName: string;
  readonly #build: Build;
  readonly #gateway: Gateway;
  readonly #requests = new Set<Promise<void>>();

  constructor(build: Build, endpoint: string, options: GatewayOptions & LambdaHostOptions) {
    const api = readRestApi(build.template);
    this.#build = build;
    this.stageName = api.stageName;
    this.host = createLambdaHost(readFunctions(build, endpoint), options);
    this.#gateway = new Gateway(api, this.host, options);
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const served = this.#gateway.serve(request, response).finally(() => this.#requests.delete(served));
    this.#requests.add(served);
  }

  /** Resolves when the requests under way have their responses. */
  async drain(): Promise<void> {
    await Promise.all(this.#requests);
  }

  /** Ends the functions' processes and removes the build. */
  async stop(): Promise<void> {
    await this.host.stop();
    await this.#build[Symbol.asyncDispose]();
  }
}

/** Serves with the latest build that works. */
export class LiveService {
  #current: Service;
  readonly #running: Set<Service>;

  constructor(first: Service) {
    this.#current = first;
    this.#running = new Set([first]);
  }

  get current(): Service {
    return this.#current;
  }

  /** Sends new requests to the next service. The one before ends when its requests have their responses. */
  replace(next: Service): void {
    const previous = this.#current;
    this.#current = next;
    this.#running.add(next);
    previous.drain().then(async () => {
      await previous.stop();
      this.#running.delete(previous);
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((service) => service.stop()));
  }
}
