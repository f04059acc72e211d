import { z } from "zod";
import type { Clock } from "../../../shared/clock.ts";
import type { TokenAuthorizer } from "../../template/rest-api.ts";
import { FunctionFailure } from "../lambda/function-response.ts";
import type { LambdaHost } from "../lambda/lambda-host.ts";
import { GatewayFailure } from "./gateway-failure.ts";

const timeoutMs = 29_000;

const oneOrMore = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const contextValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** The result of an authorizer's function; any other is an AUTHORIZER_CONFIGURATION_ERROR. */
const policySchema = z.object({
  principalId: z.string(),
  policyDocument: z.object({
    Statement: z.array(z.object({ Effect: z.enum(["Allow", "Deny"]), Action: oneOrMore, Resource: oneOrMore })),
  }),
  context: z.record(z.string(), contextValue).default({}),
});

type Policy = z.infer<typeof policySchema>;

/** The gateway's side of TOKEN authorizers: the expression, the cache of policies, and what their errors become. */
export function createAuthorizers(host: Pick<LambdaHost, "invoke">, clock: Pick<Clock, "now">) {
  const cache = new Map<string, { policy: Policy; expires: number }>();

  /**
   * The statements about a caller who may call the method, as the integration sees them.
   *
   * @param values every value of the authorizer's header; two of them are not a token.
   * @param abort aborted with AUTHORIZER_FAILURE when the function takes too long.
   * @throws GatewayFailure UNAUTHORIZED, ACCESS_DENIED, AUTHORIZER_FAILURE or AUTHORIZER_CONFIGURATION_ERROR.
   */
  return async function admit(
    { id, functionName, validation, ttlSeconds }: TokenAuthorizer,
    values: string[],
    methodArn: string,
    abort: AbortController,
  ): Promise<Record<string, string>> {
    const token = values.join(", ");
    if (token === "" || values.length > 1 || !validation.test(token)) throw new GatewayFailure("UNAUTHORIZED");
    const cached = cache.get(`${id} ${token}`);
    const isFresh = cached !== undefined && clock.now() < cached.expires;
    const event = { type: "TOKEN", authorizationToken: token, methodArn };
    const policy = isFresh ? cached.policy : await askForPolicy(host, functionName, event, abort);
    if (!isFresh) cache.set(`${id} ${token}`, { policy, expires: clock.now() + ttlSeconds * 1000 });
    const effects = policy.policyDocument.Statement.filter(
      ({ Action, Resource }) =>
        Action.some((action) => covers(action.toLowerCase(), "execute-api:invoke")) &&
        Resource.some((resource) => covers(resource, methodArn)),
    ).map(({ Effect }) => Effect);
    if (effects.includes("Deny") || !effects.includes("Allow")) throw new GatewayFailure("ACCESS_DENIED");
    return { ...policy.context, principalId: policy.principalId };
  };
}

async function askForPolicy(
  host: Pick<LambdaHost, "invoke">,
  functionName: string,
  event: object,
  abort: AbortController,
): Promise<Policy> {
  const failure = new GatewayFailure("AUTHORIZER_FAILURE");
  const timer = setTimeout(() => abort.abort(failure), timeoutMs);
  const response = await host
    .invoke(functionName, event, abort.signal)
    .catch((error: unknown) => {
      const unauthorized = error instanceof FunctionFailure && error.message === "Unauthorized";
      throw unauthorized ? new GatewayFailure("UNAUTHORIZED") : failure;
    })
    .finally(() => clearTimeout(timer));
  const returned: unknown = response.kind === "buffered" ? JSON.parse(response.payload) : undefined;
  const { data: policy } = policySchema.safeParse(returned);
  if (policy === undefined) throw new GatewayFailure("AUTHORIZER_CONFIGURATION_ERROR");
  return policy;
}

/** Whether a pattern with `*` and `?` matches the whole text. */
function covers(pattern: string, text: string): boolean {
  const expression = RegExp.escape(pattern).replaceAll("\\*", ".*").replaceAll("\\?", ".");
  return new RegExp(`^${expression}$`, "s").test(text);
}
