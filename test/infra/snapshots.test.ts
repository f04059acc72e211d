import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { Environment } from "../../infra/environments.ts";
import { resolveIntrinsics } from "../../infra/tools/intrinsics.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

/** A template without its tags, and without what changes with the functions' code. */
function readable(environment: Environment) {
  const text = JSON.stringify(templateOf(environment).toJSON())
    .replaceAll(/ApiRestDeployment(?!Stage)\w+/g, "ApiRestDeployment")
    .replaceAll(/CurrentVersion\w+/g, "CurrentVersion")
    .replaceAll(/"[0-9a-f]{64}\.zip"/g, '"CODE.zip"');
  // References and joined parts read as `Fn::Sub` writes them: `arn:${AWS::Partition}:iam::...`.
  const template = JSON.parse(text, (name, value) =>
    name === "Tags" ? undefined : value,
  );
  return Object(
    resolveIntrinsics(template, (...names) => `\${${names.filter(Boolean).join(".")}}`),
  );
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
