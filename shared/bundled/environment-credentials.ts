/**
 * Replaces `@aws-sdk/credential-provider-node`. Lambda passes credentials in environment
 * variables, so the SDK's chain of other providers would be dead weight in every bundle.
 */
export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";
