import type { Change } from "./changes.ts";
import {
  always,
  anotherNumber,
  anyNumber,
  assetsBucket,
  attachedPolicy,
  bothNumbers,
  canaryPauses,
  canaryReturns,
  comparedAsGrants,
  longer,
  methodsComeAndGo,
  moreOfThem,
  newlySet,
  newStream,
  oneOf,
  only,
  otherLimits,
  otherMessage,
  otherMethods,
  otherVariable,
  ownDeployment,
  ownVersion,
  type Rule,
  retained,
  switchedOn,
  tellsTopics,
} from "./ordinary-rules.ts";
import type { Template } from "./template.ts";

interface OrdinaryChanges {
  added?: Rule;
  removed?: Rule;
  /** By property or attribute, without indexes of lists; with `.*`, all that is inside it, too. */
  changed?: Record<string, Rule>;
}

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
      "Code.S3Bucket": assetsBucket,
      "Code.S3Key": always,
      "Environment.Variables.*": otherVariable,
      "LoggingConfig.ApplicationLogLevel": oneOf("DEBUG", "INFO"),
      "LoggingConfig.SystemLogLevel": oneOf("DEBUG", "INFO", "WARN"),
      MemorySize: anotherNumber,
      ReservedConcurrentExecutions: anyNumber,
      Timeout: anotherNumber,
    },
  },
  "AWS::Lambda::Version": { added: only("FunctionName"), removed: always },
  "AWS::Lambda::Alias": {
    changed: {
      Description: canaryReturns,
      FunctionVersion: ownVersion,
      UpdatePolicy: canaryPauses,
    },
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
      DeploymentId: ownDeployment,
      MethodSettings: methodsComeAndGo,
      "MethodSettings.ThrottlingBurstLimit": anotherNumber,
      "MethodSettings.ThrottlingRateLimit": anotherNumber,
    },
  },
  "AWS::ApiGateway::GatewayResponse": {
    changed: { "ResponseTemplates.application/json": otherMessage },
  },
  "AWS::ApiGateway::Method": {
    changed: {
      "Integration.IntegrationResponses.ResponseParameters.method.response.header.Allow":
        otherMethods,
      "Integration.IntegrationResponses.ResponseTemplates.application/json": otherMessage,
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
      StreamSpecification: newStream,
    },
  },

  // What watches it.
  "AWS::Logs::LogGroup": { added: always, changed: { RetentionInDays: longer } },
  "AWS::Logs::MetricFilter": { added: always },
  "AWS::CloudWatch::Alarm": {
    added: tellsTopics,
    changed: {
      AlarmDescription: always,
      DatapointsToAlarm: anotherNumber,
      EvaluationPeriods: anotherNumber,
      "Metrics.Expression": otherLimits,
      OKActions: tellsTopics,
      Threshold: bothNumbers,
    },
  },
  "AWS::CloudWatch::Dashboard": { added: always, removed: always, changed: { "*": always } },
  "AWS::SNS::Topic": { added: only("Tags") },

  // Who may do what.
  "AWS::IAM::ManagedPolicy": {
    added: attachedPolicy,
    changed: { "PolicyDocument.*": attachedPolicy },
  },
  "AWS::IAM::Policy": {
    added: attachedPolicy,
    removed: attachedPolicy,
    changed: { "PolicyDocument.*": attachedPolicy, "Roles.*": attachedPolicy },
  },
  "AWS::IAM::Role": {
    added: comparedAsGrants,
    changed: {
      "AssumeRolePolicyDocument.*": comparedAsGrants,
      "ManagedPolicyArns.*": comparedAsGrants,
      PermissionsBoundary: newlySet,
      "Policies.*": comparedAsGrants,
    },
  },
  "AWS::Lambda::Permission": {
    added: comparedAsGrants,
    removed: comparedAsGrants,
    changed: {
      Action: comparedAsGrants,
      FunctionName: comparedAsGrants,
      Principal: comparedAsGrants,
      SourceAccount: comparedAsGrants,
      SourceArn: comparedAsGrants,
    },
  },
  "AWS::SNS::TopicPolicy": {
    added: comparedAsGrants,
    removed: comparedAsGrants,
    changed: { "PolicyDocument.*": comparedAsGrants },
  },

  // The template beside its resources.
  Output: { added: always },
  Description: { changed: { "*": always } },
  Metadata: { added: always, removed: always, changed: { "*": always } },
  Rules: { added: always, removed: always, changed: { "*": always } },
};

/** A new one of these takes nothing away. */
const replaceableTypes = ["AWS::Lambda::Permission"];

/** Whether the table of ordinary changes has a change. A type's own rule replaces that of `*`. */
export function isOrdinary(change: Change, next: Template): boolean {
  const { kind, type } = change;
  if (kind === "added" || kind === "removed")
    return ordinary[type]?.[kind]?.(change, next) ?? false;
  if (kind === "replaced" && !replaceableTypes.includes(type)) return false;
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
