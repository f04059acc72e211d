import { z } from "zod";
import { environments } from "../../../environments.ts";
import { resolveIntrinsics } from "../../intrinsics.ts";
import { arnOf, pseudoParameters } from "../../running-stacks/local-account.ts";
import { CommandError } from "../../terminal/errors.ts";
import {
  isServed,
  type Properties,
  type Resource,
  resourceSchema,
  type ServedType,
  templateSchema,
} from "./resources.ts";

/**
 * The resource types that are known to have no meaning of their own on one machine. Add types of
 * your own here to leave them out silently.
 */
const ignoredTypes = [
  /^AWS::ApiGateway::(Account|BasePathMapping|Deployment|DomainName)$/,
  /^AWS::Lambda::(Alias|Permission|Version)$/,
  /^AWS::WAFv2::WebACLAssociation$/,
  /^AWS::(CDK|CloudWatch|CodeDeploy|IAM|Logs|Route53|SNS)::/,
];

/** The types that the service consists of: leaving one out would change what clients see. */
const serviceTypes = /^AWS::(?:ApiGateway|DynamoDB|Lambda)::/;

/** A synthesised template whose resources are read through schemas. */
export type StackTemplate = ReturnType<typeof readStackTemplate>;

/**
 * Reads a synthesised template, its intrinsic functions resolved.
 *
 * @throws CommandError naming the first resource that the service needs and the local stack does
 * not support.
 */
export function readStackTemplate(json: unknown) {
  const { Resources, Outputs } = checked(templateSchema, json, "the template");
  const resources = Object.entries(Resources);
  /** The resources of unknown types, like `AWS::SQS::Queue (Parcels)`, which are not served. */
  const notServed: string[] = [];
  for (const [id, { Type }] of resources) {
    if (isServed(Type) || ignoredTypes.some((type) => type.test(Type))) continue;
    const name = `${Type} (${id})`;
    if (serviceTypes.test(Type))
      throw new CommandError(
        `The local stack does not support the resource type ${name}`,
      );
    notServed.push(name);
  }

  /** The value of a `Ref` to a resource or pseudo parameter, or of a resource's attribute. */
  const lookUp = (id: string, attribute = "Ref"): string | undefined => {
    const { Type, Properties } = Resources[id] ?? { Type: "", Properties: {} };
    const property = (name: string) => resolve(Properties[name]);
    switch (`${Type} ${attribute}`) {
      case "AWS::ApiGateway::RestApi RootResourceId":
        return `${id}Root`;
      case "AWS::Lambda::Function Ref":
        return constructId(id);
      case "AWS::Lambda::Function Arn":
        return arnOf("lambda", `function:${constructId(id)}`);
      case "AWS::Lambda::Alias Ref":
        return arnOf(
          "lambda",
          `function:${property("FunctionName")}:${property("Name")}`,
        );
      case "AWS::DynamoDB::Table Ref":
        // The local stack is staging's.
        return `${environments.staging.stackName}-${constructId(id)}`;
    }
    if (attribute !== "Ref") return undefined;
    return isServed(Type) ? id : pseudoParameters[id];
  };
  const resolve = (part: unknown) => resolveIntrinsics(part, lookUp);

  return {
    notServed,
    /**
     * Every resource of a type.
     *
     * @throws CommandError naming the first property that the local stack would overlook or does
     * not understand.
     */
    all: <T extends ServedType>(type: T): Resource<T>[] =>
      resources
        .filter(([_, { Type }]) => Type === type)
        .map(([id, resource]) => {
          const schema = resourceSchema(type);
          const { Properties } = checked(schema, resolve(resource), `${type} ${id}`);
          return { ...(Properties as Properties<T>), id, name: lookUp(id) ?? id };
        }),
    /** @throws CommandError when the template has no such output, or its value has no meaning here. */
    output: (name: string) =>
      checked(z.string(), resolve(Outputs[name]?.Value), `the output ${name}`),
  };
}

/**
 * The construct's id within its logical id, which ends in eight hexadecimal digits: a hash of the
 * whole path.
 */
function constructId(logicalId: string) {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}

/**
 * A part of the template, as its schema reads it.
 *
 * @param where names the part in messages, like `AWS::ApiGateway::Method ListOrders`.
 * @throws CommandError naming what the local stack does not support.
 */
function checked<T>(schema: z.ZodType<T>, part: unknown, where: string) {
  // `jitless`: compiling the schemas would take longer than all the parsing.
  const { data, error } = schema.safeParse(part, { reportInput: true, jitless: true });
  if (error === undefined) return data;
  const [what] = error.issues.map((issue) => describe(issue, where));
  throw new CommandError(`The local stack does not support ${what}`);
}

function describe({ path, ...issue }: z.core.$ZodIssue, where: string) {
  const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const names = [...path, ...keys].filter((name) => name !== "Properties");
  const owned = [names.join("."), where].filter(Boolean).join(" of ");
  if (keys.length > 0) return owned;
  return `${JSON.stringify(issue.input)} in ${owned}: ${issue.message}`;
}
