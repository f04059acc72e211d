/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles (see the alias in `infra/stack/service-function.ts`). Lambda
 * passes credentials in environment variables, so the SDK's chain of other providers, a third of a bundle, is never used.
 */
export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";
