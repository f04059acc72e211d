import type { Resource } from "@aws-cdk/cloudformation-diff";
import type { Template } from "../../../infra/deploy/template.ts";
import { one } from "../templates.ts";
import { type StoppingChange, set, unset, type Which } from "./change.ts";

const cancelOrder: Which = ["Lambda::Function", "CancelOrder"];

/** Adds a function like CancelOrder, with a role of its own: an operation, if nothing differs. */
function addFunction(next: Template, properties: object, attributes: Partial<Resource> = {}): void {
  const { resource: role } = one(next, "IAM::Role", "CancelOrderRole");
  next.Resources["OtherRole"] = { ...role, Metadata: {} };
  const { resource } = one(next, ...cancelOrder);
  const Role = { "Fn::GetAtt": ["OtherRole", "Arn"] };
  const Properties = { ...resource.Properties, Role, ...properties };
  next.Resources["Other"] = { ...resource, Metadata: {}, ...attributes, Properties };
}

/** Changes of the functions that stop a deployment. */
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
    names: ["added:Address@DIGEST", "added:Anyone@DIGEST"],
  },
  {
    title: "a public address hides behind the path of a version",
    change: (next) => {
      const { resource } = one(next, "Lambda::Version", "CancelOrder");
      const Metadata = { "aws:cdk:path": "Stack/Address/Resource" };
      next.Resources["Address"] = { Type: "AWS::Lambda::Url", Properties: { AuthType: "NONE" } };
      next.Resources["Version"] = { ...resource, Metadata };
      next.Resources["Another"] = { ...resource, Metadata };
    },
    names: ["added:Address@DIGEST", "added:Address@DIGEST", "added:Address@DIGEST"],
  },
  {
    title: "the canary goes for good",
    change: (next) => {
      delete one(next, "Lambda::Alias", "CancelOrder").resource["UpdatePolicy"];
    },
    names: ["CancelOrder/Aliaslive.UpdatePolicy=unset"],
  },
  {
    title: "a function no longer finds its table",
    change: unset(cancelOrder, "Environment.Variables.ORDERS_TABLE"),
    names: ["CancelOrder.Environment.Variables.ORDERS_TABLE=unset"],
  },
  {
    title: "all variables of a function are removed",
    change: unset(cancelOrder, "Environment"),
    names: ["CancelOrder.Environment=unset"],
  },
  {
    title: "a variable steers the runtime",
    change: set(cancelOrder, "Environment.Variables.LD_PRELOAD", "/tmp/other.so"),
    names: ["CancelOrder.Environment.Variables.LD_PRELOAD=/tmp/other.so"],
  },
  {
    title: "a function is cut short",
    change: set(cancelOrder, "Timeout", 1),
    names: ["CancelOrder.Timeout=1"],
  },
  {
    title: "an older runtime runs a function",
    change: set(cancelOrder, "Runtime", "nodejs20.x"),
    names: ["CancelOrder.Runtime=nodejs20.x"],
  },
  {
    title: "code comes from another bucket",
    change: set(cancelOrder, "Code.S3Bucket", "others"),
    names: ["CancelOrder.Code.S3Bucket=others"],
  },
  {
    title: "an alias points to unpublished code",
    change: set(["Lambda::Alias", "CancelOrder"], "FunctionVersion", "$LATEST"),
    names: ["CancelOrder/Aliaslive.FunctionVersion=DIGEST"],
  },
  {
    title: "a variable's value comes from Parameter Store",
    change: set(cancelOrder, "Environment.Variables.LEVEL", "{{resolve:ssm:level}}"),
    names: ["CancelOrder.Environment.Variables.LEVEL={{resolve:ssm:level}}"],
  },
  {
    title: "a function may run no request",
    change: set(["Lambda::Function", "ListOrders"], "ReservedConcurrentExecutions", 0),
    names: ["ListOrders.ReservedConcurrentExecutions=0"],
  },
  {
    title: "a function is added",
    change: (next) => addFunction(next, {}),
    names: ["added:Other@DIGEST"],
  },
  {
    title: "a function with a layer is added",
    change: (next) => addFunction(next, { Layers: ["arn:aws:lambda:eu-central-1:1:layer:x:1"] }),
    names: ["added:Other@DIGEST"],
  },
  {
    title: "a function with the role of another is added",
    change: (next) => addFunction(next, { Role: one(next, ...cancelOrder).properties["Role"] }),
    names: ["added:OtherRole@DIGEST", "added:Other@DIGEST"],
  },
  {
    title: "a function inside a construct is added",
    change: (next) =>
      addFunction(next, {}, { Metadata: { "aws:cdk:path": "Stack/Team/Other/Resource" } }),
    names: ["added:OtherRole@DIGEST"],
  },
];
