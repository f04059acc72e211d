import { z } from "zod";
import type { Clock } from "../../../shared/clock.ts";
import { FunctionFailure } from "../lambda/function-response.ts";
import type { LambdaHost } from "../lambda/lambda-host.ts";
import type { TokenAuthorizer } from "../template/rest-api.ts";
import { GatewayFailure } from "./gateway-failure.ts";

const statementSchema = z.strictObject({
  Effect: z.literal("Allow"),
  Action: z.literal("execute-api:Invoke"),
  Resource: z.string().regex(/^[^*?]+\*$/),
});

/**
 * The result of an authorizer's function; any other, such as a policy with a Deny, is not
 * supported.
 */
const policySchema = z.strictObject({
  principalId: z.string(),
  policyDocument: z.strictObject({
    Version: z.literal("2012-10-17"),
    Statement: z.tuple([statementSchema]),
  }),
  context: z.record(z.string(), z.string()).default({}),
});

type Policy = z.infer<typeof policySchema>;

/**
 * The gateway's side of TOKEN authorizers: the expression that tokens must match, the cache of
 * policies, and the gateway's failure for each of theirs.
 */
export function createAuthorizers(
  host: Pick<LambdaHost, "invoke">,
  clock: Pick<Clock, "now">,
  timeoutMs: number,
) {
  const cache = new Map<string, { policy: Policy; expires: number }>();

  const invoke = async (
    functionName: string,
    event: object,
    abort: AbortController,
  ): Promise<unknown> => {
    const failure = new GatewayFailure("AUTHORIZER_FAILURE");
    const timer = setTimeout(() => abort.abort(failure), timeoutMs);
    try {
      const response = await host.invoke(functionName, event, abort.signal);
      return response.kind === "buffered" ? JSON.parse(response.payload) : undefined;
    } catch (error) {
      const unauthorized =
        error instanceof FunctionFailure && error.message === "Unauthorized";
      throw unauthorized ? new GatewayFailure("UNAUTHORIZED") : failure;
    } finally {
      clearTimeout(timer);
    }
  };

  /**
   * Admits a caller to a method: resolves with the principal and the context of the policy, as the
   * integration sees them.
   *
   * @param values every value of the authorizer's header; two of them are not a token.
   * @param abort aborted with AUTHORIZER_FAILURE when the function takes too long.
   * @throws GatewayFailure UNAUTHORIZED, ACCESS_DENIED or AUTHORIZER_FAILURE; ZodError for any
   * other result.
   */
  return async function admit(
    {
      id,
      AuthorizerUri,
      IdentityValidationExpression,
      AuthorizerResultTtlInSeconds,
    }: TokenAuthorizer,
    values: string[],
    methodArn: string,
    abort: AbortController,
  ): Promise<Record<string, string>> {
    const token = values.join(", ");
    if (token === "" || values.length > 1 || !IdentityValidationExpression.test(token)) {
      throw new GatewayFailure("UNAUTHORIZED");
    }
    const key = `${id} ${token}`;
    let entry = cache.get(key);
    if (entry === undefined || clock.now() >= entry.expires) {
      const event = { type: "TOKEN", authorizationToken: token, methodArn };
      const policy = policySchema.parse(await invoke(AuthorizerUri, event, abort));
      entry = { policy, expires: clock.now() + AuthorizerResultTtlInSeconds * 1000 };
      cache.set(key, entry);
    }
    const { context, policyDocument, principalId } = entry.policy;
    const [{ Resource }] = policyDocument.Statement;
    if (!methodArn.startsWith(Resource.slice(0, -1)))
      throw new GatewayFailure("ACCESS_DENIED");
    return { ...context, principalId };
  };
}
