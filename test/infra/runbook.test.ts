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

test("the runbook's commands name the stage as the template does", () => {
  const names = resources(template, "AWS::ApiGateway::Stage").map(
    ([, stage]) => stage["StageName"],
  );
  expect(values(/ --stage-name (\S+)/g)).toEqual(names);
});

test("the runbook's commands name the functions' alias as the template does", () => {
  const names = resources(template, "AWS::Lambda::Alias").map(([, alias]) => alias["Name"]);
  expect(values(/ lambda update-alias .*?--name (\S+)/g)).toEqual([...new Set(names)]);
});
