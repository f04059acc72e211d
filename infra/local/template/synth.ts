// Synthesises the staging stack into the directory given, with source maps for --source-maps. A
// process of its own, so that the CDK leaves this machine's memory when it is done, and starts
// beside the engine.
import { App } from "aws-cdk-lib/core";
import { environments } from "../../environments.ts";
import { mistakesIn } from "../../stack/mistakes.ts";
import { OrdersStack } from "../../stack/orders-stack.ts";
import { CommandError } from "../../terminal/errors.ts";

const [outdir = "cdk.out", option] = process.argv.slice(2);
const { staging } = environments;
// CDK's validation of what is deployed runs in `npm run synth`; here it would take longer than
// everything else.
const checks = {
  analyticsReporting: false,
  builtinCloudFormationValidation: false,
  stackTraces: false,
};
const mistakes = mistakesIn({ staging });
if (mistakes) throw new CommandError(mistakes);
const app = new App({
  outdir,
  context: { sourceMaps: option === "--source-maps" },
  ...checks,
});
new OrdersStack(app, staging.stackName, staging);
app.synth();
