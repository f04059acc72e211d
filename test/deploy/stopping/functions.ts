import { one } from "../templates.ts";
import type { StoppingChange } from "./stopping-change.ts";

/** Changes of the functions that someone would mind. */
export const functionsChanges: StoppingChange[] = [
  {
    title: "a function gets a public address",
    change: (next) => {
      const FunctionName = { Ref: one(next, "Lambda::Function", "CancelOrder").id };
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
    change: (next) => {
      delete one(next, "Lambda::Function", "CancelOrder").properties["Environment"].Variables
        .ORDERS_TABLE;
    },
    names: ["changed:CancelOrder.Environment.Variables.ORDERS_TABLE"],
  },
  {
    title: "all variables of a function are removed",
    change: (next) => delete one(next, "Lambda::Function", "CancelOrder").properties["Environment"],
    names: ["changed:CancelOrder.Environment"],
  },
  {
    title: "a variable steers the runtime",
    change: (next) => {
      const { properties } = one(next, "Lambda::Function", "CancelOrder");
      properties["Environment"].Variables.LD_PRELOAD = "/tmp/other.so";
    },
    names: ["changed:CancelOrder.Environment.Variables.LD_PRELOAD"],
  },
  {
    title: "code comes from another bucket",
    change: (next) => {
      one(next, "Lambda::Function", "CancelOrder").properties["Code"].S3Bucket = "others";
    },
    names: ["changed:CancelOrder.Code.S3Bucket"],
  },
  {
    title: "an alias leads to the code that is not published",
    change: (next) => {
      const { properties } = one(next, "Lambda::Alias", "CancelOrder");
      properties["FunctionVersion"] = "$LATEST";
    },
    names: ["changed:CancelOrder/Aliaslive.FunctionVersion"],
  },
  {
    title: "a value comes from elsewhere",
    change: (next) => {
      const { properties } = one(next, "Lambda::Function", "CancelOrder");
      properties["Environment"].Variables.LEVEL = "{{resolve:ssm:level}}";
    },
    names: ["value-elsewhere"],
  },
];
