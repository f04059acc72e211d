import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { setEveryAlias, skipsCanary, withoutCanary } from "../../infra/stack/without-canary.ts";
import { ordersStack } from "../helpers/synthesise.ts";

const aliases = (template: Template) => Object.values(template.findResources("AWS::Lambda::Alias"));
const descriptions = (template: Template) => aliases(template).map(({ Properties }) => Properties.Description);

test("it changes every alias each time, so that one moved by hand is set again", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const deploy = (time: string) => {
    vi.setSystemTime(time);
    const stack = ordersStack(withoutCanary(environments.production));
    setEveryAlias(stack);
    return descriptions(Template.fromStack(stack));
  };
  const ofEach = (text: string) => Object.keys(functionList).map(() => text);
  expect(deploy("2026-11-21T08:00:00Z")).toEqual(ofEach("Set without a canary at 2026-11-21T08:00:00.000Z"));
  expect(deploy("2026-11-21T08:00:01Z")).toEqual(ofEach("Set without a canary at 2026-11-21T08:00:01.000Z"));
});

test.each([
  [{}, false],
  [{ canary: "true" }, false],
  [{ canary: true }, false],
  [{ canary: "false" }, true],
  [{ canary: false }, true],
])("the context %j skips the canary: %s", (context, skips) => {
  expect(skipsCanary(new App({ context }))).toBe(skips);
});

test.each(["off", "", "False"])("-c canary=%s is an error, not a canary", (canary) => {
  expect(() => skipsCanary(new App({ context: { canary } }))).toThrow("canary must be true or false, not");
});

test("only the canary is left out of an environment", () => {
  const { alarms, ...rest } = withoutCanary(environments.production);
  expect({ ...rest, alarms: { ...alarms, canary: true } }).toEqual(environments.production);
  expect(alarms?.canary).toBe(false);
});

test("it describes nothing but aliases", () => {
  const stack = ordersStack(environments.staging);
  const before = Template.fromStack(ordersStack(environments.staging)).toJSON()["Resources"];
  setEveryAlias(stack);
  for (const [id, resource] of Object.entries(Template.fromStack(stack).toJSON()["Resources"])) {
    if (before[id].Type !== "AWS::Lambda::Alias") expect(resource, id).toEqual(before[id]);
  }
});

test("an environment without alarms has no canary to skip", () => {
  expect(withoutCanary(environments.staging)).toEqual(environments.staging);
});
