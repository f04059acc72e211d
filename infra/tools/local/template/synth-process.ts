// Synthesises the staging stack, without the parts of own.ts, into the directory CDK_OUTDIR. A
// process of its own, so that the CDK leaves this machine's memory when it is done.
import { App } from "aws-cdk-lib/core";
import { environments } from "../../../environments.ts";
import { OrdersStack } from "../../../stack/orders-stack.ts";
import { mistakesIn } from "../../../stack/settings.ts";
import { CommandError } from "../../terminal/errors.ts";

const { staging } = environments;
const mistakes = mistakesIn({ staging });
if (mistakes) throw new CommandError(mistakes);
// CDK's validation of what is deployed runs in `infra/petstore synth`; here it would take longer than
// everything else.
const app = new App({
  analyticsReporting: false,
  builtinCloudFormationValidation: false,
  stackTraces: false,
});
new OrdersStack(app, staging.stackName, staging);
