import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { Environment } from "../../infra/environments.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

/** A template without its tags, and without what changes with the functions' code. */
function readable(environment: Environment) {
  const text = JSON.stringify(templateOf(environment).toJSON())
    .replaceAll(/ApiRestDeployment(?!Stage)\w+/g, "ApiRestDeployment")
    .replaceAll(/CurrentVersion\w+/g, "CurrentVersion")
    .replaceAll(/"[0-9a-f]{64}\.zip"/g, '"CODE.zip"');
  return JSON.parse(text, asText);
}

/** Writes references and joined parts as `Fn::Sub` would: `arn:${AWS::Partition}:iam::...`. */
function asText(name: string, value: unknown): unknown {
  if (name === "Tags") return undefined;
  const { Ref: id, "Fn::GetAtt": attribute, "Fn::Join": join } = Object(value);
  if (id) return `\${${id}}`;
  if (attribute) return `\${${[attribute].flat().join(".")}}`;
  return join?.[1].every((part: unknown) => typeof part === "string")
    ? join[1].join(join[0])
    : value;
}

const every = readable(everyOption);
const none = readable(noOption);
/** The resources that no option changes: they stand once. */
const both: Record<string, unknown> = {};
for (const [id, resource] of Object.entries(every.Resources)) {
  if (!isDeepStrictEqual(resource, none.Resources[id])) continue;
  both[id] = resource;
  delete every.Resources[id];
  delete none.Resources[id];
}

// Read what a change does to them, then accept it with `npm test -- test/infra/snapshots --update`.
test.each(Object.entries({ "every-option": every, "no-option": none, both }))(
  "the templates with every and no option have the resources in templates/%s.yaml",
  async (name, part) => {
    const text = stringify(part, { aliasDuplicateObjects: false, lineWidth: 120 });
    await expect(text).toMatchFileSnapshot(`templates/${name}.yaml`);
  },
);
