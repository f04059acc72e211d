import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

/** A template's lines, without what changes with the code of the functions. */
function lines(template: Template): string {
  const text = JSON.stringify(template.toJSON())
    .replaceAll(/ApiRestDeployment(?!Stage)\w+/g, "ApiRestDeployment")
    .replaceAll(/CurrentVersion\w+/g, "CurrentVersion")
    .replaceAll(/"[0-9a-f]{64}\.zip"/g, '"CODE.zip"');
  return stringify(JSON.parse(text, asText), {
    aliasDuplicateObjects: false,
    lineWidth: 120,
  });
}

/**
 * Writes references and what is joined of parts as `Fn::Sub` would, like
 * `arn:${AWS::Partition}:iam::...`.
 */
function asText(_name: string, value: unknown): unknown {
  const { Ref: id, "Fn::GetAtt": attribute, "Fn::Join": join } = Object(value);
  if (id) return `\${${id}}`;
  if (attribute) return `\${${[attribute].flat().join(".")}}`;
  return join?.[1].every((part: unknown) => typeof part === "string")
    ? join[1].join(join[0])
    : value;
}

// Read what a change does to them, then accept it with `npm test -- test/infra/snapshots --update`.
test.each([everyOption, noOption])(
  "the template of $name is the one in templates/",
  async (environment) => {
    const template = templateOf(environment);
    await expect(lines(template)).toMatchFileSnapshot(`templates/${environment.name}.yaml`);
  },
);
