import { z } from "zod";
import { StartError } from "../start-error.ts";
import { ignoring } from "./checked.ts";
import { type GatewayResponse, readGatewayResponses } from "./constant-response.ts";
import { type ApiMethod, readMethods } from "./methods.ts";
import type { Template } from "./template.ts";

/** The REST API that a template describes. */
export interface RestApi {
  id: string;
  stageName: string;
  resources: ApiResource[];
  /** By type, like `UNAUTHORIZED`. */
  gatewayResponses: Map<string, GatewayResponse>;
}

export interface ApiResource {
  /** Like `/store/orders/{orderId}`. */
  path: string;
  /** By HTTP method or `ANY`. */
  methods: Map<string, ApiMethod>;
}

const apiSchema = z.strictObject({
  ...ignoring("Name", "Description", "DisableExecuteApiEndpoint", "EndpointConfiguration"),
});

const stageSchema = z.strictObject({
  StageName: z.string(),
  ...ignoring("AccessLogSetting", "DeploymentId", "Description", "MethodSettings", "RestApiId", "Tags"),
});

const resourceSchema = z.strictObject({ ParentId: z.string(), PathPart: z.string(), ...ignoring("RestApiId") });

/** Reads the one API of a template. @throws StartError for whatever of it the local stack can't do. */
export function readRestApi(template: Template): RestApi {
  const [api, ...otherApis] = template.all("AWS::ApiGateway::RestApi", apiSchema);
  const [stage, ...otherStages] = template.all("AWS::ApiGateway::Stage", stageSchema);
  if (api === undefined || stage === undefined || otherApis.length + otherStages.length > 0) {
    throw new StartError("The local stack needs a template with one REST API of one stage");
  }
  const methods = readMethods(template);
  const resources = [...readPaths(template, `${api.id}Root`)].map(([id, path]) => {
    const own = methods.filter(({ resourceId }) => resourceId === id);
    return { path, methods: new Map(own.map((method) => [method.httpMethod, method])) };
  });
  return {
    id: api.id,
    stageName: stage.properties.StageName,
    resources,
    gatewayResponses: readGatewayResponses(template),
  };
}

/** The path of each resource by its logical id. */
function readPaths(template: Template, rootId: string): Map<string, string> {
  const resources = new Map(
    template.all("AWS::ApiGateway::Resource", resourceSchema).map(({ id, properties }) => [id, properties]),
  );
  const pathOf = (id: string): string => {
    const resource = resources.get(id);
    return resource === undefined ? "" : `${pathOf(resource.ParentId)}/${resource.PathPart}`;
  };
  return new Map([[rootId, "/"], ...[...resources.keys()].map((id) => [id, pathOf(id)] as const)]);
}
