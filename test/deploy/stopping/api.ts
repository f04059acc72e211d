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
    names: ["removed:Api/Rest/Default/store/orders/{orderId}/DELETE@DIGEST"],
  },
  {
    title: "a method is no longer throttled",
    change: unset([stage], "MethodSettings.0.ThrottlingRateLimit"),
    names: ["Api/Rest/DeploymentStage.v1.MethodSettings.0.ThrottlingRateLimit=unset"],
  },
  {
    title: "a method serves almost no one",
    change: set([stage], "MethodSettings.0.ThrottlingRateLimit", 0.001),
    names: ["Api/Rest/DeploymentStage.v1.MethodSettings.0.ThrottlingRateLimit=0.001"],
  },
  {
    title: "a stage loses the settings of a method that it still has",
    change: (next) => one(next, stage).properties["MethodSettings"].pop(),
    names: ["Api/Rest/DeploymentStage.v1.MethodSettings=DIGEST"],
  },
  {
    title: "all other methods are no longer throttled",
    change: (next) => one(next, stage).properties["MethodSettings"].shift(),
    names: ["Api/Rest/DeploymentStage.v1.MethodSettings=DIGEST"],
  },
  {
    title: "the settings of a method are listed twice",
    change: (next) => {
      const { properties } = one(next, stage);
      properties["MethodSettings"].push(properties["MethodSettings"].at(-1));
    },
    names: ["Api/Rest/DeploymentStage.v1.MethodSettings=DIGEST"],
  },
  {
    title: "bodies are logged",
    change: set([stage], "MethodSettings.0.DataTraceEnabled", true),
    names: ["Api/Rest/DeploymentStage.v1.MethodSettings.0.DataTraceEnabled=true"],
  },
  {
    title: "the access log is switched off",
    change: unset([stage], "AccessLogSetting"),
    names: ["Api/Rest/DeploymentStage.v1.AccessLogSetting=unset"],
  },
  {
    title: "another function authorizes",
    change: set(
      [authorizer],
      "AuthorizerUri",
      "arn:aws:lambda:eu-central-1:444444444444:function:x",
    ),
    names: ["Api/BearerKeys.AuthorizerUri=arn:aws:lambda:eu-central-1:444444444444:function:x"],
  },
  {
    title: "the authorizer reads another header",
    change: set([authorizer], "IdentitySource", "method.request.header.X-Key"),
    names: ["Api/BearerKeys.IdentitySource=method.request.header.X-Key"],
  },
  {
    title: "the authorizer's type changes",
    change: set([authorizer], "Type", "REQUEST"),
    names: ["Api/BearerKeys.Type=REQUEST"],
  },
  {
    title: "accepted keys are cached for an hour",
    change: set([authorizer], "AuthorizerResultTtlInSeconds", 3600),
    names: ["Api/BearerKeys.AuthorizerResultTtlInSeconds=3600"],
  },
  {
    title: "the authorizer matches other keys",
    change: set([authorizer], "IdentityValidationExpression", ".*"),
    names: ["Api/BearerKeys.IdentityValidationExpression=.*"],
  },
  {
    title: "a route loses its authorizer",
    change: set(["ApiGateway::Method", listRoute], "AuthorizationType", "NONE"),
    names: ["Api/Rest/Default/store/orders/GET.AuthorizationType=NONE"],
  },
  {
    title: "a route without the authorizer is added",
    change: (next) => {
      const { properties, resource } = one(next, "ApiGateway::Method", listRoute);
      const Properties = { ...properties, HttpMethod: "PUT", AuthorizationType: "NONE" };
      next.Resources["Put"] = { ...resource, Metadata: {}, Properties };
    },
    names: ["added:Put@DIGEST"],
  },
  {
    title: "the API becomes private",
    change: set(["ApiGateway::RestApi"], "EndpointConfiguration", { Types: ["PRIVATE"] }),
    names: ["Api/Rest.EndpointConfiguration.Types.0=PRIVATE"],
  },
  {
    title: "a gateway response shows AWS's own message",
    change: set(["ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED"], "ResponseTemplates", {
      [json]: '{"code":"unauthorized","message":"$context.error.message","status":401}',
    }),
    names: ["Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json.message=DIGEST"],
  },
  {
    title: "an error has another code",
    change: set(["ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED"], "ResponseTemplates", {
      [json]: '{"code":"denied","message":"Missing or invalid API key","status":401}',
    }),
    names: ["Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json.code=denied"],
  },
  {
    title: "a gateway response is no longer an Error record",
    change: set(["ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED"], "ResponseTemplates", {
      [json]: "null",
    }),
    names: ["Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json=null"],
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
      "Api/Rest/Default/store/orders/ANY.Integration.IntegrationResponses.0.ResponseParameters.method.response.header.Allow=method.request.path.x",
    ],
  },
  {
    title: "the DNS record is removed",
    change: remove(["Route53::RecordSet"]),
    names: ["removed:Api/Domain/Record@DIGEST"],
  },
  {
    title: "the DNS record moves to another zone",
    change: set(["Route53::RecordSet"], "HostedZoneId", "Z1"),
    names: ["replaced:Api/Domain/Record.HostedZoneId=Z1"],
  },
  {
    title: "the mapping of the base path is removed",
    change: remove(["ApiGateway::BasePathMapping"]),
    names: ["removed:Api/Domain/BasePath@DIGEST"],
  },
  {
    title: "the base address changes",
    change: ({ Outputs = {} }) => {
      Outputs["BaseUrl"] = { Value: "https://example.com/v1" };
    },
    names: ["Outputs.BaseUrl.Value=https://example.com/v1"],
  },
  {
    title: "older TLS is accepted",
    change: (next) => {
      set(["ApiGateway::DomainName"], "SecurityPolicy", "TLS_1_0")(next);
      set(["ApiGateway::RestApi"], "SecurityPolicy", "TLS_1_0")(next);
    },
    // .github/workflows/deploy.yml knows a change of TLS by these.
    names: ["Api/Rest.SecurityPolicy=TLS_1_0", "Api/Domain/Name.SecurityPolicy=TLS_1_0"],
  },
  {
    title: "a Host header may differ from the name of the TLS connection",
    change: set(["ApiGateway::RestApi"], "EndpointAccessMode", "BASIC"),
    names: ["Api/Rest.EndpointAccessMode=BASIC"],
  },
];
