import { one } from "../templates.ts";
import { type StoppingChange, set, unset } from "./stopping-change.ts";

const cancelOrder: [string, string] = ["Lambda::Function", "CancelOrder"];

/** Changes of the functions that someone would mind. */
export const functionsChanges: StoppingChange[] = [
  {
    title: "a function gets a public address",
    change: (next) => {
      const FunctionName = { Ref: one(next, ...cancelOrder).id };
      const Action = "lambda:InvokeFunctionUrl";
      const permitted = { Action, FunctionName, Principal: "*", FunctionUrlAuthType: "NONE" };
      next.Resources["Address"] = {
        Type: "AWS::Lambda::Url",
        Properties: { TargetFunctionArn: FunctionName, AuthType: "NONE" },
      };
      next.Resources["Anyone"] = { Type: "AWS::Lambda::Permission", Properties: permitted };
    },
    names: ["added:Address", "grant:*:lambda:InvokeFunctionUrl:CancelOrder"],
  },
  {
    title: "the canary goes for good",
    change: (next) => {
      delete one(next, "Lambda::Alias", "CancelOrder").resource["UpdatePolicy"];
    },
    names: ["canary-removed"],
  },
  {
    title: "a function no longer finds its table",
    change: unset(cancelOrder, "Environment.Variables.ORDERS_TABLE"),
    names: ["changed:CancelOrder.Environment.Variables.ORDERS_TABLE"],
  },
  {
    title: "all variables of a function are removed",
    change: unset(cancelOrder, "Environment"),
    names: ["changed:CancelOrder.Environment"],
  },
  {
    title: "a variable steers the runtime",
    change: set(cancelOrder, "Environment.Variables.LD_PRELOAD", "/tmp/other.so"),
    names: ["changed:CancelOrder.Environment.Variables.LD_PRELOAD"],
  },
  {
    title: "code comes from another bucket",
    change: set(cancelOrder, "Code.S3Bucket", "others"),
    names: ["changed:CancelOrder.Code.S3Bucket"],
  },
  {
    title: "an alias leads to the code that is not published",
    change: set(["Lambda::Alias", "CancelOrder"], "FunctionVersion", "$LATEST"),
    names: ["changed:CancelOrder/Aliaslive.FunctionVersion"],
  },
  {
    title: "a value comes from elsewhere",
    change: set(cancelOrder, "Environment.Variables.LEVEL", "{{resolve:ssm:level}}"),
    names: ["value-elsewhere"],
  },
];
