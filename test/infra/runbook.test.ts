import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { everyOption } from "../helpers/fixture-environments.ts";
import { resources, templateOf } from "../helpers/synthesise.ts";

const template = templateOf(everyOption);
const runbook = globSync("infra/*.md")
  .map((page) => readFileSync(page, "utf8").replaceAll(/\\\n\s*/g, ""))
  .join("\n");

/** The different values that an option has in the runbook's commands. */
const values = (option: RegExp) => [
  ...new Set([...runbook.matchAll(option)].map(([, value]) => value)),
];

test("the runbook's commands name the stage and the functions' alias as the template does", () => {
  const names = (type: string, name: string) =>
    resources(template, type).map(([, { [name]: value }]) => value);
  expect(values(/ --stage-name (\S+)/g)).toEqual(names("AWS::ApiGateway::Stage", "StageName"));
  const aliases = new Set(names("AWS::Lambda::Alias", "Name"));
  expect(values(/ lambda update-alias .*?--name (\S+)/g)).toEqual([...aliases]);
});
