import type { Change } from "./changes.ts";
import type { Grant } from "./grants.ts";
import {
  always,
  anotherNumber,
  anyNumber,
  canaryPauses,
  canaryReturns,
  longer,
  methodsComeAndGo,
  moreOfThem,
  newlySet,
  oneOf,
  only,
  otherLimits,
  otherText,
  otherVariable,
  type Rule,
  retained,
  switchedOn,
} from "./ordinary-rules.ts";
import type { Template } from "./template.ts";

interface OrdinaryChanges {
  added?: Rule;
  removed?: Rule;
  /** By property or attribute, without indexes of lists; with `.*`, all that is inside it, too. */
  changed?: Record<string, Rule>;
}

/** What a policy allows is compared by `grants.ts`, whichever resource says it. */
const comparedAsGrants = { added: always, removed: always };

/**
 * Every change that needs nobody's word, by the resource's type; `*` is any type. All other changes
 * stop a deployment until they are accepted.
 */
const ordinary: Record<string, OrdinaryChanges> = {
  "*": {
    changed: {
      DeletionPolicy: retained,
      DependsOn: always,
      Description: always,
      "Metadata.*": always,
      "Tags.*": always,
      UpdateReplacePolicy: retained,
    },
  },

  // Code, and what it runs with.
  "AWS::Lambda::Function": {
    changed: {
      "Code.*": always,
      "Environment.Variables.*": otherVariable,
      "LoggingConfig.ApplicationLogLevel": oneOf("DEBUG", "INFO"),
      "LoggingConfig.SystemLogLevel": oneOf("DEBUG", "INFO", "WARN"),
      MemorySize: always,
      ReservedConcurrentExecutions: anyNumber,
      Timeout: always,
    },
  },
  "AWS::Lambda::Version": { added: only("FunctionName"), removed: always },
  "AWS::Lambda::Alias": {
    changed: { Description: canaryReturns, FunctionVersion: always, UpdatePolicy: canaryPauses },
  },
  "AWS::CodeDeploy::Application": { added: always },
  "AWS::CodeDeploy::DeploymentGroup": {
    added: always,
    changed: { "AlarmConfiguration.Alarms": moreOfThem },
  },

  // Rates and texts of the API.
  "AWS::ApiGateway::Deployment": { added: only("Description", "RestApiId"), removed: always },
  "AWS::ApiGateway::Stage": {
    changed: {
      DeploymentId: always,
      MethodSettings: methodsComeAndGo,
      "MethodSettings.ThrottlingBurstLimit": anotherNumber,
      "MethodSettings.ThrottlingRateLimit": anotherNumber,
    },
  },
  "AWS::ApiGateway::GatewayResponse": { changed: { "ResponseTemplates.*": otherText } },
  "AWS::ApiGateway::Method": {
    changed: {
      "Integration.IntegrationResponses.ResponseParameters.method.response.header.Allow": otherText,
      "Integration.IntegrationResponses.ResponseTemplates.*": otherText,
      "Integration.TimeoutInMillis": anotherNumber,
    },
  },

  // Stronger protections of the tables, and other limits.
  "AWS::DynamoDB::Table": {
    changed: {
      DeletionProtectionEnabled: switchedOn,
      "OnDemandThroughput.*": anotherNumber,
      PointInTimeRecoverySpecification: newlySet,
      "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": switchedOn,
      StreamSpecification: newlySet,
    },
  },

  // What watches it.
  "AWS::Logs::LogGroup": { added: always, changed: { RetentionInDays: longer } },
  "AWS::Logs::MetricFilter": { added: always, changed: { "*": always } },
  "AWS::CloudWatch::Alarm": {
    added: always,
    changed: {
      AlarmDescription: always,
      DatapointsToAlarm: always,
      EvaluationPeriods: always,
      "Metrics.Expression": otherLimits,
      OKActions: always,
      Threshold: always,
    },
  },
  "AWS::CloudWatch::Dashboard": { added: always, removed: always, changed: { "*": always } },
  "AWS::SNS::Topic": { added: always },

  // Who may do what.
  "AWS::IAM::ManagedPolicy": { ...comparedAsGrants, changed: { "PolicyDocument.*": always } },
  "AWS::IAM::Policy": {
    ...comparedAsGrants,
    changed: { "PolicyDocument.*": always, "Roles.*": always },
  },
  "AWS::IAM::Role": {
    ...comparedAsGrants,
    changed: {
      "AssumeRolePolicyDocument.*": always,
      "ManagedPolicyArns.*": always,
      PermissionsBoundary: newlySet,
      "Policies.*": always,
    },
  },
  "AWS::Lambda::Permission": {
    ...comparedAsGrants,
    changed: {
      Action: always,
      FunctionName: always,
      Principal: always,
      SourceAccount: always,
      SourceArn: always,
    },
  },
  "AWS::SNS::TopicPolicy": { ...comparedAsGrants, changed: { "PolicyDocument.*": always } },

  // The template beside its resources.
  Output: { added: always },
  Description: { changed: { "*": always } },
  Metadata: { added: always, removed: always, changed: { "*": always } },
  Rules: { added: always, removed: always, changed: { "*": always } },
};

/** What a new role, function or topic may be granted, or grant, without anybody's word. */
const ordinaryGrants: { principal?: string; action: string; isConditional?: true }[] = [
  { principal: "Service:lambda.amazonaws.com", action: "sts:AssumeRole" },
  {
    principal: "Service:apigateway.amazonaws.com",
    action: "lambda:InvokeFunction",
    isConditional: true,
  },
  { principal: "Service:cloudwatch.amazonaws.com", action: "sns:Publish", isConditional: true },
  { principal: "Service:codedeploy.amazonaws.com", action: "sts:AssumeRole" },
  { action: "AWSCodeDeployRoleForLambdaLimited" },
];

/** Whether the table of ordinary changes has a change. A type's own rule replaces that of `*`. */
export function isOrdinary(change: Change, next: Template): boolean {
  const { kind, type } = change;
  if (kind === "added" || kind === "removed")
    return ordinary[type]?.[kind]?.(change, next) ?? false;
  const property = change.property.replace(/\.\d+(?=\.|$)/g, "");
  const rules = { ...ordinary["*"]?.changed, ...ordinary[type]?.changed };
  return Object.entries(rules).some(
    ([name, rule]) => matches(name, property) && rule(change, next),
  );
}

function matches(name: string, property: string): boolean {
  if (!name.endsWith("*")) return name === property;
  return `${property}.`.startsWith(name.slice(0, -1));
}

/** Whether a grant comes with a new resource that needs it, or goes with its resource. */
export function isOrdinaryGrant(grant: Grant, changes: Change[]): boolean {
  const added = changes.filter(({ kind }) => kind === "added");
  const removed = changes.filter(({ kind }) => kind === "removed");
  if (isAbout(grant, removed)) return true;
  if (!isAbout(grant, added)) return false;
  const isListed = ordinaryGrants.some(
    ({ principal = grant.principal, action, isConditional = false }) =>
      principal === grant.principal &&
      action === grant.action &&
      (grant.condition !== "" || !isConditional),
  );
  return !grant.isGained || isListed;
}

/** Whether a grant is to, or on, one of the resources. */
function isAbout({ principal, resource }: Grant, changes: Change[]): boolean {
  const ids = new Set(changes.map(({ id }) => id));
  const references = `${principal} ${resource}`.matchAll(/\$\{(\w+)/g);
  return [...references].some(([, id = ""]) => ids.has(id));
}
