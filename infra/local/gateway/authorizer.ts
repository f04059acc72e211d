import { FunctionFailure } from "../lambda/function-answer.ts";
import type { LambdaHost } from "../lambda/lambda-host.ts";
import type { TokenAuthorizer } from "../template/token-authorizers.ts";
import { GatewayFailure } from "./gateway-failure.ts";

/** What the authorizer's function told about the caller, as the integration sees it. */
export type AuthorizerContext = Record<string, string>;

const timeoutMs = 29_000;

interface Policy {
  context: AuthorizerContext;
  statements: { effect: string; resources: string[] }[];
}

/** The gateway's side of TOKEN authorizers: the expression, the cache of policies, and what their errors become. */
export class Authorizers {
  readonly #host: LambdaHost;
  readonly #clock: () => number;
  readonly #caches = new Map<TokenAuthorizer, Map<string, { policy: Policy; expires: number }>>();

  /** @param clock epoch milliseconds, for the age of what is cached. */
  constructor(host: LambdaHost, clock: () => number) {
    this.#host = host;
    this.#clock = clock;
  }

  /**
   * The context of a caller who may call the method.
   *
   * @param values every value of the authorizer's header. Two are no token: joined, they match no expression.
   * @throws GatewayFailure UNAUTHORIZED, ACCESS_DENIED, AUTHORIZER_FAILURE or AUTHORIZER_CONFIGURATION_ERROR.
   */
  async admit(
    authorizer: TokenAuthorizer,
    values: string[],
    methodArn: string,
    patience: AbortController,
  ): Promise<AuthorizerContext> {
    const token = values.join(", ");
    if (token === "" || values.length > 1 || authorizer.validation?.test(token) === false) {
      throw new GatewayFailure("UNAUTHORIZED");
    }
    const policy = this.#cached(authorizer, token) ?? (await this.#ask(authorizer, token, methodArn, patience));
    const effects = policy.statements
      .filter(({ resources }) => resources.some((resource) => covers(resource, methodArn)))
      .map(({ effect }) => effect);
    if (effects.includes("Deny") || !effects.includes("Allow")) throw new GatewayFailure("ACCESS_DENIED");
    return policy.context;
  }

  #cached(authorizer: TokenAuthorizer, token: string): Policy | undefined {
    const entry = this.#caches.get(authorizer)?.get(token);
    return entry !== undefined && this.#clock() < entry.expires ? entry.policy : undefined;
  }

  async #ask(
    authorizer: TokenAuthorizer,
    token: string,
    methodArn: string,
    patience: AbortController,
  ): Promise<Policy> {
    const event = { type: "TOKEN", authorizationToken: token, methodArn };
    const failure = new GatewayFailure("AUTHORIZER_FAILURE");
    const timer = setTimeout(() => patience.abort(failure), timeoutMs);
    const answer = await this.#host
      .invoke(authorizer.functionName, event, patience.signal)
      .catch((error: unknown) => {
        const refused = error instanceof FunctionFailure && error.message === "Unauthorized";
        throw refused ? new GatewayFailure("UNAUTHORIZED") : failure;
      })
      .finally(() => clearTimeout(timer));
    const policy = answer.kind === "buffered" ? readPolicy(JSON.parse(answer.payload)) : undefined;
    if (policy === undefined) throw new GatewayFailure("AUTHORIZER_CONFIGURATION_ERROR");
    if (authorizer.ttlSeconds > 0) {
      const cache = this.#caches.get(authorizer) ?? new Map();
      this.#caches.set(authorizer, cache.set(token, { policy, expires: this.#clock() + authorizer.ttlSeconds * 1000 }));
    }
    return policy;
  }
}

/** The policy in a function's answer, or undefined when the gateway could not use it. */
function readPolicy(answer: unknown): Policy | undefined {
  const principalId = field(answer, "principalId");
  const statements = field(field(answer, "policyDocument"), "Statement");
  const context = field(answer, "context") ?? {};
  if (typeof principalId !== "string" || !Array.isArray(statements) || typeof context !== "object") return undefined;
  const values = Object.entries({ ...context, principalId });
  if (!values.every(([, value]) => ["string", "number", "boolean"].includes(typeof value))) return undefined;
  const policy: Policy = {
    context: Object.fromEntries(values.map(([name, value]) => [name, String(value)])),
    statements: [],
  };
  for (const statement of statements) {
    const effect = field(statement, "Effect");
    const actions = texts(field(statement, "Action"));
    const resources = texts(field(statement, "Resource"));
    if ((effect !== "Allow" && effect !== "Deny") || actions === undefined || resources === undefined) return undefined;
    if (actions.some((action) => covers(action.toLowerCase(), "execute-api:invoke")))
      policy.statements.push({ effect, resources });
  }
  return policy;
}

/** Whether a pattern with `*` and `?` covers the whole text. */
function covers(pattern: string, text: string): boolean {
  const expression = RegExp.escape(pattern).replaceAll("\\*", ".*").replaceAll("\\?", ".");
  return new RegExp(`^${expression}$`, "s").test(text);
}

function texts(value: unknown): string[] | undefined {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.every((each) => typeof each === "string") ? values : undefined;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
