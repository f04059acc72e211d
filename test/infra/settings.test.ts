import type { App } from "aws-cdk-lib/core";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/tools/local/template/rest-api.ts";
import { readStackTemplate } from "../../infra/tools/local/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack, templateOf } from "../helpers/synthesise.ts";
import { synthesised } from "../tools/deploy/templates.ts";
import { differences } from "./differences.ts";

const { alarms, domain, permissionsBoundary, throttling, webAclArn } = everyOption;
const { hostedZone: _, ...elsewhere } = domain;

test("each setting changes only what it is about", () => {
  const settings: Record<string, Partial<Environment>> = {
    "another apiKeyPrefix": { apiKeyPrefix: "hafen_live" },
    "another authorizerCacheSeconds": { authorizerCacheSeconds: 59 },
    "domain with its hosted zone": { domain },
    "domain with a record of someone else's, beside the gateway's address": {
      domain: { ...elsewhere, keepGatewayAddress: true },
    },
    permissionsBoundary: { permissionsBoundary },
    "ownsLogRole: false": { ownsLogRole: false },
    webAclArn: { webAclArn },
    throttling: { throttling },
    listConcurrency: { listConcurrency: 20 },
    keepData: { keepData: true },
    ordersStream: { ordersStream: true },
    writerAccounts: { writerAccounts: ["222222222222", "333333333333"] },
    dashboard: { dashboard: true },
    topicArn: { alarms: { ...alarms, topicArn: "arn:aws:sns:eu:1:on-call" } },
  };
  const texts = Object.entries(settings).map(([name, changed]) => {
    const before = { ...noOption, ...(changed.alarms && { alarms }) };
    const after = { ...before, ...changed };
    return `\n${name}${differences(synthesised(before), synthesised(after))}`;
  });
  const everyAlarm = /(?:Alarms\/\w+, ){17}Alarms\/\w+/g;
  expect(texts.join("").replaceAll(everyAlarm, "18 alarms")).toMatchInlineSnapshot();
});

test("CDK deploys a stack to its account only, and protects it if it keeps data", () => {
  const environment = "aws://111111111111/eu-central-1";
  expect(ordersStack(everyOption)).toMatchObject({
    environment,
    terminationProtection: true,
  });
  expect(ordersStack(noOption).terminationProtection).toBe(false);
});

test("a stack's tags are its own two, and those of the setting, which win", () => {
  const tags = { team: "orders", service: "shop" };
  const { artifactId, node } = ordersStack({ ...everyOption, tags });
  const synthesised = (node.root as App).synth().getStackArtifact(artifactId);
  expect(synthesised.tags).toEqual({ ...tags, environment: "every-option" });
});

test("the local stack has the same API with every setting as with none", () => {
  // The region is part of the addresses that are compared.
  const { account: _, ...local } = everyOption;
  const read = (environment: Environment) =>
    readRestApi(readStackTemplate(templateOf(environment).toJSON()));
  const { apiKeyPrefix, authorizerCacheSeconds } = local;
  expect(read(local)).toEqual(
    read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }),
  );
});
