import { one } from "../templates.ts";
import { remove, type StoppingChange, set, unset } from "./change.ts";

const stage = "ApiGateway::Stage";
const authorizer = "ApiGateway::Authorizer";
const listRoute = "ApiReststoreordersGET";
const cancelRoute = "ApiReststoreordersorderIdDELETE";
const json = "application/json";

/** Changes of the API that stop a deployment. */
export const apiChanges: StoppingChange[] = [
  {
    title: "the route of cancellations is dropped",
    change: remove(["ApiGateway::Method", cancelRoute]),
    names: ["removed:Api/Rest/Default/store/orders/{orderId}/DELETE"],
  },
  {
    title: "a method is no longer throttled",
    change: unset([stage], "MethodSettings.0.ThrottlingRateLimit"),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings.0.ThrottlingRateLimit"],
  },
  {
    title: "a stage loses the settings of a method that it still has",
    change: (next) => one(next, stage).properties["MethodSettings"].pop(),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings"],
  },
  {
    title: "all other methods are no longer throttled",
    change: (next) => one(next, stage).properties["MethodSettings"].shift(),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings"],
  },
  {
    title: "the settings of a method are listed twice",
    change: (next) => {
      const { properties } = one(next, stage);
      properties["MethodSettings"].push(properties["MethodSettings"].at(-1));
    },
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings"],
  },
  {
    title: "bodies are logged",
    change: set([stage], "MethodSettings.0.DataTraceEnabled", true),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings.0.DataTraceEnabled"],
  },
  {
    title: "the access log is switched off",
    change: unset([stage], "AccessLogSetting"),
    names: ["changed:Api/Rest/DeploymentStage.v1.AccessLogSetting"],
  },
  {
    title: "another function authorizes",
    change: set(
      [authorizer],
      "AuthorizerUri",
      "arn:aws:lambda:eu-central-1:444444444444:function:x",
    ),
    names: ["changed:Api/BearerKeys.AuthorizerUri"],
  },
  {
    title: "the authorizer reads another header",
    change: set([authorizer], "IdentitySource", "method.request.header.X-Key"),
    names: ["changed:Api/BearerKeys.IdentitySource"],
  },
  {
    title: "the authorizer's type changes",
    change: set([authorizer], "Type", "REQUEST"),
    names: ["changed:Api/BearerKeys.Properties.Type"],
  },
  {
    title: "accepted keys are cached for an hour",
    change: set([authorizer], "AuthorizerResultTtlInSeconds", 3600),
    names: ["changed:Api/BearerKeys.AuthorizerResultTtlInSeconds"],
  },
  {
    title: "the authorizer matches other keys",
    change: set([authorizer], "IdentityValidationExpression", ".*"),
    names: ["key-expression"],
  },
  {
    title: "a route loses its authorizer",
    change: set(["ApiGateway::Method", listRoute], "AuthorizationType", "NONE"),
    names: ["changed:Api/Rest/Default/store/orders/GET.AuthorizationType"],
  },
  {
    title: "a route without the authorizer is added",
    change: (next) => {
      const { properties, resource } = one(next, "ApiGateway::Method", listRoute);
      const Properties = { ...properties, HttpMethod: "PUT", AuthorizationType: "NONE" };
      next.Resources["Put"] = { ...resource, Metadata: {}, Properties };
    },
    names: ["added:Put"],
  },
  {
    title: "the API becomes private",
    change: set(["ApiGateway::RestApi"], "EndpointConfiguration", { Types: ["PRIVATE"] }),
    names: ["changed:Api/Rest.EndpointConfiguration.Types.0"],
  },
  {
    title: "a gateway response shows AWS's own message",
    change: set(["ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED"], "ResponseTemplates", {
      [json]: '{"code":"unauthorized","message":"$context.error.message","status":401}',
    }),
    names: ["changed:Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json"],
  },
  {
    title: "an error has another code",
    change: set(["ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED"], "ResponseTemplates", {
      [json]: '{"code":"denied","message":"Missing or invalid API key","status":401}',
    }),
    names: ["changed:Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json"],
  },
  {
    title: "a gateway response is no longer an Error record",
    change: set(["ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED"], "ResponseTemplates", {
      [json]: "null",
    }),
    names: ["changed:Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json"],
  },
  {
    title: "an Allow header shows part of the request",
    change: set(
      ["ApiGateway::Method", "ApiReststoreordersANY"],
      "Integration.IntegrationResponses.0.ResponseParameters",
      {
        "method.response.header.Allow": "method.request.path.x",
        "method.response.header.Cache-Control": "'no-store'",
      },
    ),
    names: [
      "changed:Api/Rest/Default/store/orders/ANY.Integration.IntegrationResponses.0." +
        "ResponseParameters.method.response.header.Allow",
    ],
  },
  {
    title: "the DNS record is removed",
    change: remove(["Route53::RecordSet"]),
    names: ["removed:Api/Domain/Record"],
  },
  {
    title: "the DNS record moves to another zone",
    change: set(["Route53::RecordSet"], "HostedZoneId", "Z1"),
    names: ["replaced:Api/Domain/Record"],
  },
  {
    title: "the mapping of the base path is removed",
    change: remove(["ApiGateway::BasePathMapping"]),
    names: ["removed:Api/Domain/BasePath"],
  },
  {
    title: "the base address changes",
    change: ({ Outputs = {} }) => {
      Outputs["BaseUrl"] = { Value: "https://example.com/v1" };
    },
    names: ["base-url"],
  },
  {
    title: "older TLS is accepted",
    change: set(["ApiGateway::DomainName"], "SecurityPolicy", "TLS_1_0"),
    names: ["tls"],
  },
];
