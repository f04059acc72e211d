import { one } from "../templates.ts";
import type { StoppingChange } from "./stopping-change.ts";

/** Changes of the API that someone would mind. */
export const apiChanges: StoppingChange[] = [
  {
    title: "the route of cancellations is dropped",
    change: (next) => {
      delete next.Resources[one(next, "ApiGateway::Method", "ApiReststoreordersorderIdDELETE").id];
    },
    names: ["removed:Api/Rest/Default/store/orders/{orderId}/DELETE"],
  },
  {
    title: "a method is no longer throttled",
    change: (next) => {
      const [all] = one(next, "ApiGateway::Stage").properties["MethodSettings"];
      delete all.ThrottlingRateLimit;
    },
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings.0.ThrottlingRateLimit"],
  },
  {
    title: "a stage loses the settings of a method that it still has",
    change: (next) => one(next, "ApiGateway::Stage").properties["MethodSettings"].pop(),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings"],
  },
  {
    title: "bodies are logged",
    change: (next) => {
      one(next, "ApiGateway::Stage").properties["MethodSettings"][0].DataTraceEnabled = true;
    },
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings.0.DataTraceEnabled"],
  },
  {
    title: "another function authorizes",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::Authorizer");
      properties["AuthorizerUri"] = "arn:aws:lambda:eu-central-1:444444444444:function:other";
    },
    names: ["changed:Api/BearerKeys.AuthorizerUri"],
  },
  {
    title: "the authorizer reads another header",
    change: (next) => {
      const header = "method.request.header.X-Key";
      one(next, "ApiGateway::Authorizer").properties["IdentitySource"] = header;
    },
    names: ["changed:Api/BearerKeys.IdentitySource"],
  },
  {
    title: "accepted keys are remembered for an hour",
    change: (next) => {
      one(next, "ApiGateway::Authorizer").properties["AuthorizerResultTtlInSeconds"] = 3600;
    },
    names: ["changed:Api/BearerKeys.AuthorizerResultTtlInSeconds"],
  },
  {
    title: "other keys match",
    change: (next) => {
      one(next, "ApiGateway::Authorizer").properties["IdentityValidationExpression"] = ".*";
    },
    names: ["key-expression"],
  },
  {
    title: "a route loses its authorizer",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::Method", "ApiReststoreordersGET");
      properties["AuthorizationType"] = "NONE";
    },
    names: ["changed:Api/Rest/Default/store/orders/GET.AuthorizationType"],
  },
  {
    title: "a route without the authorizer is added",
    change: (next) => {
      const { properties, resource } = one(next, "ApiGateway::Method", "ApiReststoreordersGET");
      const Properties = { ...properties, HttpMethod: "PUT", AuthorizationType: "NONE" };
      next.Resources["Put"] = { ...resource, Metadata: {}, Properties };
    },
    names: ["added:Put"],
  },
  {
    title: "the API becomes private",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::RestApi");
      properties["EndpointConfiguration"] = { Types: ["PRIVATE"] };
    },
    names: ["changed:Api/Rest.EndpointConfiguration.Types.0"],
  },
  {
    title: "a gateway response shows what AWS says",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED");
      const text = '{"message":$context.error.messageString}';
      properties["ResponseTemplates"] = { "application/json": text };
    },
    names: ["changed:Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json"],
  },
  {
    title: "the access log is switched off",
    change: (next) => delete one(next, "ApiGateway::Stage").properties["AccessLogSetting"],
    names: ["changed:Api/Rest/DeploymentStage.v1.AccessLogSetting"],
  },
  {
    title: "the DNS record is removed",
    change: (next) => delete next.Resources[one(next, "Route53::RecordSet").id],
    names: ["removed:Api/Domain/Record"],
  },
  {
    title: "the DNS record moves to another zone",
    change: (next) => {
      one(next, "Route53::RecordSet").properties["HostedZoneId"] = "Z1";
    },
    names: ["replaced:Api/Domain/Record"],
  },
  {
    title: "the mapping of the base path is removed",
    change: (next) => delete next.Resources[one(next, "ApiGateway::BasePathMapping").id],
    names: ["removed:Api/Domain/BasePath"],
  },
  {
    title: "the base address is another one",
    change: ({ Outputs = {} }) => {
      Outputs["BaseUrl"] = { Value: "https://example.com/v1" };
    },
    names: ["base-url"],
  },
  {
    title: "older TLS is let in",
    change: (next) => {
      one(next, "ApiGateway::DomainName").properties["SecurityPolicy"] = "TLS_1_0";
    },
    names: ["tls"],
  },
  {
    title: "the authorizer is of another kind",
    change: (next) => {
      one(next, "ApiGateway::Authorizer").properties["Type"] = "REQUEST";
    },
    names: ["changed:Api/BearerKeys.Properties.Type"],
  },
  {
    title: "all other methods are no longer throttled",
    change: (next) => one(next, "ApiGateway::Stage").properties["MethodSettings"].shift(),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings"],
  },
  {
    title: "an error has another code",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED");
      const text = '{"code":"denied","message":"Missing or invalid API key","status":401}';
      properties["ResponseTemplates"] = { "application/json": text };
    },
    names: ["changed:Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json"],
  },
];
