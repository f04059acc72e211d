import { z } from "zod";
import { environments } from "../../environments.ts";
import { StartError } from "../start-error.ts";
import { checked, ignoring } from "./checked.ts";
import { type LookUp, resolveIntrinsics } from "./intrinsics.ts";
import { functionArn, pseudoParameters } from "./local-account.ts";

/** The resource types that the local stack serves. */
const servedTypes = [
  "AWS::ApiGateway::Authorizer",
  "AWS::ApiGateway::GatewayResponse",
  "AWS::ApiGateway::Method",
  "AWS::ApiGateway::Resource",
  "AWS::ApiGateway::RestApi",
  "AWS::ApiGateway::Stage",
  "AWS::DynamoDB::Table",
  "AWS::Lambda::Alias",
  "AWS::Lambda::Function",
  "AWS::Lambda::Version",
] as const;

type ServedType = (typeof servedTypes)[number];

/** The resource types that have no meaning on one machine. */
const ignoredTypes =
  /^AWS::(?:ApiGateway::(?:Account|BasePathMapping|Deployment|DomainName)|Lambda::Permission|(?:CDK|CloudWatch|CodeDeploy|IAM|Logs|Route53|SNS)::\w+)$/;

const templateSchema = z.strictObject({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string() })),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
  ...ignoring("Conditions", "Description", "Parameters", "Rules"),
});

const resourceSchema = z.strictObject({
  Type: z.enum(servedTypes),
  Properties: z.record(z.string(), z.unknown()).default({}),
  ...ignoring("DeletionPolicy", "DependsOn", "Metadata", "UpdatePolicy", "UpdateReplacePolicy"),
});

/** A synthesised template whose resources are read through schemas, intrinsic functions resolved first. */
export class Template {
  readonly #resources = new Map<string, z.infer<typeof resourceSchema>>();
  readonly #outputs: z.infer<typeof templateSchema>["Outputs"];
  readonly #lookUp: LookUp = {
    reference: (id) => this.#reference(id),
    attribute: (id, name) => this.#attribute(id, name),
  };

  /** @throws StartError naming the first resource that the local stack does not support. */
  constructor(json: unknown) {
    const { Resources, Outputs } = checked(templateSchema, json, "the template");
    this.#outputs = Outputs;
    for (const [id, resource] of Object.entries(Resources)) {
      if (ignoredTypes.test(resource.Type)) continue;
      if (!servedTypes.some((type) => type === resource.Type)) {
        throw new StartError(`The local stack does not support the resource type ${resource.Type} (${id})`);
      }
      this.#resources.set(id, checked(resourceSchema, resource, id));
    }
  }

  /**
   * Every resource of a type: its logical id, what `Ref` to it gives, and its properties.
   *
   * @throws StartError when a resource's properties do not fit the schema.
   */
  all<T>(type: ServedType, properties: z.ZodType<T>): { id: string; name: string; properties: T }[] {
    return [...this.#resources]
      .filter(([, resource]) => resource.Type === type)
      .map(([id]) => ({ id, name: this.#reference(id) ?? id, properties: this.#properties(id, properties) }));
  }

  /** @throws StartError when the template has no such output, or its value has no meaning here. */
  output(name: string): string {
    return checked(z.string(), resolveIntrinsics(this.#outputs[name]?.Value, this.#lookUp), `the output ${name}`);
  }

  #properties<T>(id: string, schema: z.ZodType<T>): T {
    const resource = this.#resources.get(id);
    return checked(schema, resolveIntrinsics(resource?.Properties, this.#lookUp), `${resource?.Type} ${id}`);
  }

  #reference(id: string): string | undefined {
    const pseudoParameter = new Map<string, string>(Object.entries(pseudoParameters)).get(id);
    switch (this.#resources.get(id)?.Type) {
      case undefined:
        return pseudoParameter;
      case "AWS::ApiGateway::Stage":
        return this.#properties(id, z.object({ StageName: z.string() })).StageName;
      case "AWS::DynamoDB::Table":
        return `${environments.staging.stackName}-${constructId(id)}`;
      case "AWS::Lambda::Alias":
        return this.#qualifiedArn(id, this.#properties(id, z.object({ Name: z.string() })).Name);
      case "AWS::Lambda::Function":
        return constructId(id);
      case "AWS::Lambda::Version":
        return this.#qualifiedArn(id, onlyVersion);
      default:
        return id;
    }
  }

  #attribute(id: string, name: string): string | undefined {
    switch (`${this.#resources.get(id)?.Type}.${name}`) {
      case "AWS::ApiGateway::RestApi.RootResourceId":
        return `${id}Root`;
      case "AWS::Lambda::Function.Arn":
        return functionArn(constructId(id));
      case "AWS::Lambda::Version.Version":
        return onlyVersion;
      default:
        return undefined;
    }
  }

  #qualifiedArn(id: string, qualifier: string): string {
    const { FunctionName } = this.#properties(id, z.object({ FunctionName: z.string() }));
    return `${functionArn(FunctionName)}:${qualifier}`;
  }
}

/** Each synthesis publishes one version of a function. */
const onlyVersion = "1";

/** The construct's id within its logical id, which ends in eight hexadecimal digits: a hash of the whole path. */
function constructId(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}
