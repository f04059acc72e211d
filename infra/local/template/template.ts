import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { environments } from "../../environments.ts";
import { StartError } from "../start-error.ts";
import { Properties } from "./properties.ts";

/** What stands for the account and region of a deployed stack. */
export const pseudoParameters = {
  "AWS::AccountId": "000000000000",
  "AWS::Partition": "aws",
  "AWS::Region": "us-east-1",
  "AWS::URLSuffix": "amazonaws.com",
} as const;

const { stackName } = environments.staging;

/** The resource types that mean something here, each with what `Ref` to it gives. */
const references: Record<string, (template: Template, id: string) => string> = {
  "AWS::ApiGateway::Authorizer": (_, id) => id,
  "AWS::ApiGateway::GatewayResponse": (_, id) => id,
  "AWS::ApiGateway::Method": (_, id) => id,
  "AWS::ApiGateway::Resource": (_, id) => id,
  "AWS::ApiGateway::RestApi": (_, id) => id,
  "AWS::ApiGateway::Stage": (template, id) => template.properties(id).text("StageName"),
  "AWS::DynamoDB::Table": (_, id) => `${stackName}-${constructId(id)}`,
  "AWS::Lambda::Alias": (template, id) => qualifiedArn(template, id, template.properties(id).text("Name")),
  "AWS::Lambda::Function": (_, id) => constructId(id),
  "AWS::Lambda::Version": (template, id) => qualifiedArn(template, id, "1"),
};

/** The resource types that have no meaning on one machine. */
const ignored = new Set([
  "AWS::ApiGateway::Account",
  "AWS::ApiGateway::BasePathMapping",
  "AWS::ApiGateway::Deployment",
  "AWS::ApiGateway::DomainName",
  "AWS::CDK::Metadata",
  "AWS::CloudWatch::Alarm",
  "AWS::CodeDeploy::Application",
  "AWS::CodeDeploy::DeploymentGroup",
  "AWS::IAM::Policy",
  "AWS::IAM::Role",
  "AWS::Lambda::Permission",
  "AWS::Logs::LogGroup",
  "AWS::Logs::MetricFilter",
  "AWS::Route53::RecordSet",
  "AWS::SNS::Subscription",
  "AWS::SNS::Topic",
  "AWS::SNS::TopicPolicy",
]);

/** A synthesised template, its intrinsic functions resolved as it is read. */
export class Template {
  readonly #resources: Record<string, unknown>;
  readonly #outputs: Properties;

  /** @throws StartError naming the first resource whose type the local stack does not know. */
  constructor(json: unknown) {
    const resolve = (value: unknown): unknown => this.#resolve(value);
    const template = new Properties("the template", json, resolve);
    this.#resources = template.record("Resources");
    this.#outputs = template.nested("Outputs");
    for (const id of Object.keys(this.#resources)) {
      const type = this.#type(id);
      if (!ignored.has(type) && references[type] === undefined) {
        throw new StartError(`The local stack does not support the resource type ${type} (${id})`);
      }
    }
  }

  /** The ids of all resources of a type. */
  ids(type: string): string[] {
    return Object.keys(this.#resources).filter((id) => this.#type(id) === type);
  }

  /** The properties of a resource, in which other resources are names already. */
  properties(id: string): Properties {
    const resource = new Properties(id, this.#resources[id], (value) => this.#resolve(value));
    return resource.nested("Properties", `${this.#type(id)} ${id}`);
  }

  /** What `Ref` to a resource gives. */
  reference(id: string): string {
    const pseudo = Object.entries(pseudoParameters).find(([name]) => name === id);
    if (pseudo !== undefined) return pseudo[1];
    const reference = references[this.#type(id)];
    if (reference === undefined) throw new StartError(`The local stack has no value for a Ref to ${id}`);
    return reference(this, id);
  }

  output(name: string): string {
    return this.#outputs.nested(name).text("Value");
  }

  #type(id: string): string {
    return new Properties(id, this.#resources[id]).text("Type");
  }

  #resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#resolve(each));
    if (typeof value !== "object" || value === null) return value;
    const [[name, argument] = ["", undefined], ...others] = Object.entries(value);
    if (others.length === 0 && (name === "Ref" || name.startsWith("Fn::"))) return this.#call(name, argument);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#resolve(each)]));
  }

  #call(name: string, argument: unknown): unknown {
    const given = this.#resolve(argument);
    if (name === "Ref" && typeof given === "string") return this.reference(given);
    if (name === "Fn::Sub" && typeof given === "string") {
      return given.replaceAll(/\$\{([\w:]+)\}/g, (_, id: string) => this.reference(id));
    }
    if (Array.isArray(given)) {
      const [first, second]: unknown[] = given;
      if (name === "Fn::Join" && typeof first === "string" && Array.isArray(second)) return second.join(first);
      if (name === "Fn::Split" && typeof first === "string") return String(second).split(first);
      if (name === "Fn::Select" && Array.isArray(second)) return second[Number(first)];
      if (name === "Fn::GetAtt" && typeof first === "string") return this.#attribute(first, String(second));
    }
    throw new StartError(`The local stack does not support ${name} with ${JSON.stringify(argument)}`);
  }

  #attribute(id: string, attribute: string): string {
    const key = `${this.#type(id)}.${attribute}`;
    if (key === "AWS::ApiGateway::RestApi.RootResourceId") return `${id}Root`;
    if (key === "AWS::Lambda::Function.Arn") return functionArn(this.reference(id));
    if (key === "AWS::Lambda::Version.Version") return "1";
    throw new StartError(`The local stack does not support Fn::GetAtt of ${key} (${id})`);
  }
}

/** A template and where the assets are that it names by their S3 keys. */
export interface SynthesisedStack {
  template: Template;
  assetDirectory: (objectKey: string) => string;
}

/** Synthesises the staging stack into a directory. */
export async function synthesise(directory: string, signal: AbortSignal): Promise<void> {
  const script = fileURLToPath(new URL("synth.ts", import.meta.url));
  try {
    await promisify(execFile)(process.execPath, [script, directory], { signal });
  } catch (error) {
    signal.throwIfAborted();
    const output = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    throw new StartError(`The stack can't be synthesised: ${output.trim()}`);
  }
}

/** Reads the staging stack from the directory it was synthesised into. */
export async function readStack(directory: string): Promise<SynthesisedStack> {
  const template = new Template(await readJson(join(directory, `${stackName}.template.json`)));
  const manifest = new Properties("the assets", await readJson(join(directory, `${stackName}.assets.json`)));
  const directories = new Map<string, string>();
  for (const file of Object.values(manifest.record("files"))) {
    const asset = new Properties("an asset", file);
    const path = asset.nested("source").text("path");
    for (const destination of Object.values(asset.record("destinations"))) {
      directories.set(new Properties("a destination", destination).text("objectKey"), join(directory, path));
    }
  }
  return {
    template,
    assetDirectory: (objectKey) => {
      const found = directories.get(objectKey);
      if (found === undefined) throw new StartError(`The synthesised stack has no asset ${objectKey}`);
      return found;
    },
  };
}

/** The ARN of a function without a qualifier. */
export function functionArn(name: string): string {
  return `arn:aws:lambda:${pseudoParameters["AWS::Region"]}:${pseudoParameters["AWS::AccountId"]}:function:${name}`;
}

/** What was constructed, from its logical id: that ends in eight hexadecimal digits of a hash of the whole path. */
function constructId(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}

function qualifiedArn(template: Template, id: string, qualifier: string): string {
  return `${functionArn(template.properties(id).text("FunctionName"))}:${qualifier}`;
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, "utf8"));
}
