import { z } from "zod";
import { environments } from "../../environments.ts";
import { intrinsicName, resolveIntrinsics } from "../../stack/intrinsics.ts";
import { CommandError } from "../../terminal/errors.ts";
import { arnOf, pseudoParameters } from "./local-account.ts";
import {
  isServed,
  type Properties,
  resourceSchemas,
  type ServedType,
  strict,
} from "./resources.ts";

/**
 * The resource types that are known to have no meaning on one machine. Add types of your own here
 * to leave them out silently.
 */
const ignoredTypes = [
  /^AWS::ApiGateway::(Account|BasePathMapping|Deployment|DomainName)$/,
  /^AWS::Lambda::(Permission|Version)$/,
  /^AWS::WAFv2::WebACLAssociation$/,
  /^AWS::(CDK|CloudWatch|CodeDeploy|IAM|Logs|Route53|SNS)::/,
];

/** The types that the service consists of: leaving one out would change what clients see. */
const serviceTypes = /^AWS::(?:ApiGateway|DynamoDB|Lambda)::/;

const templateSchema = strict({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string() })),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
});

const resourceSchema = strict({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
});

const pseudoValues = new Map<string, string>(Object.entries(pseudoParameters));

/** A resource as the local stack reads it: its logical id, the value of a `Ref` to it, the rest. */
export type Resource<T extends ServedType> = Properties<T> & { id: string; name: string };

/**
 * A synthesised template whose resources are read through schemas, intrinsic functions resolved
 * first.
 */
export class StackTemplate {
  readonly #resources = new Map<
    string,
    { type: ServedType; properties: Record<string, unknown> }
  >();
  readonly #outputs: z.infer<typeof templateSchema>["Outputs"];
  /** The resources of unknown types, like `AWS::SQS::Queue (Parcels)`, which are not served. */
  readonly notServed: string[] = [];

  /**
   * @throws CommandError naming the first resource that the service needs and the local stack does
   * not support.
   */
  constructor(json: unknown) {
    const { Resources, Outputs } = checked(templateSchema, json, "the template");
    this.#outputs = Outputs;
    for (const [id, resource] of Object.entries(Resources)) {
      if (ignoredTypes.some((type) => type.test(resource.Type))) continue;
      if (!serviceTypes.test(resource.Type)) {
        this.notServed.push(`${resource.Type} (${id})`);
        continue;
      }
      const { Type: type, Properties: properties } = checked(resourceSchema, resource, id);
      if (!isServed(type)) {
        throw new CommandError(
          `The local stack does not support the resource type ${type} (${id})`,
        );
      }
      this.#resources.set(id, { type, properties });
    }
  }

  /**
   * Every resource of a type.
   *
   * @throws CommandError naming the first property that the local stack would overlook or does not
   * understand.
   */
  all<T extends ServedType>(type: T): Resource<T>[] {
    return [...this.#resources]
      .filter(([_, resource]) => resource.type === type)
      .map(([id]) => ({
        ...this.#properties(type, id),
        id,
        name: this.#valueOf(id) ?? id,
      }));
  }

  /** @throws CommandError when the template has no such output, or its value has no meaning here. */
  output(name: string): string {
    return checked(
      z.string(),
      this.#resolve(this.#outputs[name]?.Value),
      `the output ${name}`,
    );
  }

  #properties<T extends ServedType>(type: T, id: string): Properties<T> {
    const schema: z.ZodType = resourceSchemas[type];
    const resolved = this.#resolve(this.#resources.get(id)?.properties);
    return checked(schema, resolved, `${type} ${id}`) as Properties<T>;
  }

  #resolve(part: unknown): unknown {
    return resolveIntrinsics(part, (id, attribute) => this.#valueOf(id, attribute));
  }

  /** The value of a `Ref` to a resource or pseudo parameter, or of a resource's attribute. */
  #valueOf(id: string, attribute = "Ref"): string | undefined {
    const { type, properties } = this.#resources.get(id) ?? {};
    switch (`${type} ${attribute}`) {
      case "AWS::ApiGateway::RestApi RootResourceId":
        return `${id}Root`;
      case "AWS::Lambda::Function Ref":
        return constructId(id);
      case "AWS::Lambda::Function Arn":
        return arnOf("lambda", `function:${constructId(id)}`);
      case "AWS::Lambda::Alias Ref": {
        const { FunctionName, Name } = this.#properties("AWS::Lambda::Alias", id);
        return arnOf("lambda", `function:${FunctionName}:${Name}`);
      }
      case "AWS::DynamoDB::Table Ref": {
        // The local stack is staging's.
        const usual = `${environments.staging.stackName}-${constructId(id)}`;
        return String(this.#resolve(properties?.["TableName"]) ?? usual);
      }
      case "undefined Ref":
        return pseudoValues.get(id);
      default:
        return attribute === "Ref" ? id : undefined;
    }
  }
}

/**
 * The construct's id within its logical id, which ends in eight hexadecimal digits: a hash of the
 * whole path.
 */
function constructId(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}

/**
 * A part of the template, as its schema reads it.
 *
 * @param where names the part in messages, like `AWS::ApiGateway::Method ListOrders`.
 * @throws CommandError naming what the local stack does not support.
 */
function checked<T>(schema: z.ZodType<T>, part: unknown, where: string): T {
  const { data, error } = schema.safeParse(part, { reportInput: true });
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw new CommandError(
    `The local stack does not support ${issue && describe(issue, where)}`,
  );
}

function describe({ path, ...issue }: z.core.$ZodIssue, where: string): string {
  const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const name = [...path, ...keys].join(".");
  const owned = name === "" ? where : `${name} of ${where}`;
  if (keys.length > 0) return owned;
  if (intrinsicName(issue.input) !== undefined)
    return `${JSON.stringify(issue.input)} in ${owned}`;
  return `${owned}: ${issue.message}`;
}
