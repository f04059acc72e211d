import { z } from "zod";
import { StartError } from "../start-error.ts";
import { ignoring } from "./checked.ts";
import type { Template } from "./template.ts";

const aliasSchema = z.strictObject({
  Name: z.string(),
  FunctionName: z.string(),
  FunctionVersion: z.string(),
  ...ignoring("Description"),
});
const versionSchema = z.strictObject({ FunctionName: z.string(), ...ignoring("Description") });

/**
 * The function that the gateway invokes: the URI names an alias, the alias a version, the version a function.
 *
 * @param uri of an integration or an authorizer.
 * @param where names its owner in messages.
 * @throws StartError when the URI names no alias: a deployment would then go live at once, past its canary.
 */
export function invokedFunction(template: Template, uri: string, where: string): string {
  const pattern = /\/functions\/(arn:aws:lambda:[^:/]*:[^:/]*:function:([^:/]+)(?::([^:/]+))?)\//;
  const [, arn, name, qualifier] = pattern.exec(uri) ?? [];
  if (arn === undefined) throw new StartError(`${where} invokes no Lambda function: ${uri}`);
  if (qualifier === undefined) throw new StartError(`${where} invokes the function ${name} itself, not an alias of it`);
  const alias = template.all("AWS::Lambda::Alias", aliasSchema).find((candidate) => candidate.name === arn);
  if (alias === undefined) throw new StartError(`${where} invokes ${name}:${qualifier}, which is not an alias`);
  const { FunctionName, FunctionVersion } = alias.properties;
  const version = template
    .all("AWS::Lambda::Version", versionSchema)
    .find((candidate) => candidate.name === `${arn.slice(0, -qualifier.length)}${FunctionVersion}`);
  if (version === undefined) {
    throw new StartError(
      `The alias ${FunctionName}:${qualifier} stands for version ${FunctionVersion}, which is missing`,
    );
  }
  return version.properties.FunctionName;
}
