/**
 * What the bundles have in place of `@aws-sdk/credential-provider-node` (see the aliases in
 * `infra/stack/service-function.ts`): Lambda hands credentials to a function in its environment, so the SDK's chain of other
 * providers, a third of a bundle, would never be asked.
 */
export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";
