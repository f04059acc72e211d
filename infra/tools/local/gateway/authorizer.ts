import { z } from "zod";
import { arnOf } from "../../running-stacks/local-account.ts";
import type { LambdaHost } from "../lambda/lambda-host.ts";
import type { RestApi, TokenAuthorizer } from "../template/rest-api.ts";
import { GatewayFailure } from "./gateway-failure.ts";
import type { GatewayRequest } from "./gateway-request.ts";

/**
 * The result of an authorizer's function; any other, such as a policy with a Deny, is not
 * supported.
 */
const policySchema = z.strictObject({
  principalId: z.string(),
  policyDocument: z.strictObject({
    Version: z.literal("2012-10-17"),
    Statement: z.tuple([
      z.strictObject({
        Effect: z.literal("Allow"),
        Action: z.literal("execute-api:Invoke"),
        Resource: z.string().regex(/^[^*?]+\*$/),
      }),
    ]),
  }),
  context: z.record(z.string(), z.string()).default({}),
});

/**
 * The gateway's side of TOKEN authorizers: the expression that tokens must match, the cache of
 * policies, and the gateway's failure for each of theirs.
 */
export function createAuthorizers(api: RestApi, invoke: LambdaHost["invoke"]) {
  const cache = new Map<string, z.infer<typeof policySchema> & { expires: number }>();

  /**
   * Admits a caller to a method: resolves with the principal and the context of the policy, as the
   * integration sees them.
   *
   * @throws GatewayFailure UNAUTHORIZED, ACCESS_DENIED or AUTHORIZER_FAILURE; ZodError for any
   * other result.
   */
  return async function admit(
    authorizer: TokenAuthorizer,
    { abort, message, method, resourcePath }: GatewayRequest,
  ): Promise<Record<string, string>> {
    const name = authorizer.IdentitySource.toLowerCase();
    // Two values are not a token.
    const [token = "", ...others] = message.headersDistinct[name] ?? [];
    const isToken = authorizer.IdentityValidationExpression.test(token);
    if (token === "" || others.length > 0 || !isToken)
      throw new GatewayFailure("UNAUTHORIZED");
    const operation = `${api.id}/${api.stageName}/${method}${resourcePath}`;
    const methodArn = arnOf("execute-api", operation);
    const key = `${authorizer.id} ${token}`;
    let policy = cache.get(key);
    if (policy === undefined || Date.now() >= policy.expires) {
      const event = { type: "TOKEN", authorizationToken: token, methodArn };
      const { returned } = await invoke(
        authorizer.AuthorizerUri,
        event,
        abort.signal,
      ).catch(fail);
      const expires = Date.now() + authorizer.AuthorizerResultTtlInSeconds * 1000;
      policy = { ...policySchema.parse(returned), expires };
      cache.set(key, policy);
    }
    const { context, policyDocument, principalId } = policy;
    const [{ Resource }] = policyDocument.Statement;
    if (!methodArn.startsWith(Resource.slice(0, -1)))
      throw new GatewayFailure("ACCESS_DENIED");
    return { ...context, principalId };
  };
}

/** Throws the gateway's failure for that of an authorizer's function. */
function fail({ message }: Error): never {
  const isUnauthorized = message === "Unauthorized";
  throw new GatewayFailure(isUnauthorized ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE");
}
