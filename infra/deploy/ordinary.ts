import type { Change } from "./changes.ts";
import {
  aliasDescription,
  allowHeader,
  always,
  assetsBucket,
  attachedPolicy,
  canaryAddedOrSkipped,
  comparedAsGrants,
  deploymentOfSameApi,
  longer,
  methodsComeAndGo,
  newlySet,
  newStream,
  notifiesOnlyTopics,
  oneOf,
  only,
  onlyGrew,
  otherLimits,
  otherMessage,
  otherVariable,
  positive,
  type Rule,
  retained,
  switchedOn,
  versionOfSameFunction,
} from "./ordinary-rules.ts";
import type { Template } from "./template.ts";

interface OrdinaryChanges {
  added?: Rule;
  removed?: Rule;
  /** By property or attribute, without indexes of lists. `.*` includes all that is inside it. */
  changed?: Record<string, Rule>;
}

/**
 * The changes that nobody has to accept, by the resource's type; `*` is any type. All others stop a
 * deployment until they are accepted.
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
      MemorySize: positive,
      ReservedConcurrentExecutions: positive,
      Timeout: positive,
    },
  },
  "AWS::Lambda::Version": { added: only("FunctionName"), removed: always },
  "AWS::Lambda::Alias": {
    changed: {
      Description: aliasDescription,
      FunctionVersion: versionOfSameFunction,
      UpdatePolicy: canaryAddedOrSkipped,
    },
  },
  "AWS::CodeDeploy::Application": { added: always },
  "AWS::CodeDeploy::DeploymentGroup": {
    added: always,
    changed: { "AlarmConfiguration.Alarms": onlyGrew },
  },

  // Rates and texts of the API.
  "AWS::ApiGateway::Deployment": { added: only("Description", "RestApiId"), removed: always },
  "AWS::ApiGateway::Stage": {
    changed: {
      DeploymentId: deploymentOfSameApi,
      MethodSettings: methodsComeAndGo,
      "MethodSettings.ThrottlingBurstLimit": positive,
      "MethodSettings.ThrottlingRateLimit": positive,
    },
  },
  "AWS::ApiGateway::GatewayResponse": {
    changed: { "ResponseTemplates.application/json": otherMessage },
  },
  "AWS::ApiGateway::Method": {
    changed: {
      "Integration.IntegrationResponses.ResponseParameters.method.response.header.Allow":
        allowHeader,
      "Integration.IntegrationResponses.ResponseTemplates.application/json": otherMessage,
      "Integration.TimeoutInMillis": positive,
    },
  },

  // Stronger protections of the tables, and other limits.
  "AWS::DynamoDB::Table": {
    changed: {
      DeletionProtectionEnabled: switchedOn,
      "OnDemandThroughput.*": positive,
      PointInTimeRecoverySpecification: newlySet,
      "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": switchedOn,
      StreamSpecification: newStream,
    },
  },

  // Logs, metrics and alarms.
  "AWS::Logs::LogGroup": { added: always, changed: { RetentionInDays: longer } },
  "AWS::Logs::MetricFilter": { added: always },
  "AWS::CloudWatch::Alarm": {
    added: notifiesOnlyTopics,
    changed: {
      AlarmDescription: always,
      DatapointsToAlarm: positive,
      EvaluationPeriods: positive,
      "Metrics.Expression": otherLimits,
      OKActions: notifiesOnlyTopics,
      Threshold: positive,
    },
  },
  "AWS::CloudWatch::Dashboard": { added: always, removed: always, changed: { "*": always } },
  "AWS::SNS::Topic": { added: only("Tags") },

  // Who may do what.
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
  "AWS::Lambda::Permission": { added: comparedAsGrants, removed: comparedAsGrants },
  "AWS::SNS::TopicPolicy": { added: comparedAsGrants, removed: comparedAsGrants },

  // The template beside its resources.
  Output: { added: always },
  Description: { changed: { "*": always } },
  Metadata: { changed: { "*": always } },
  Rules: { changed: { "*": always } },
};

/** Whether the table above lists a change. A type's own rule replaces that of `*`. */
export function isOrdinary(change: Change, next: Template): boolean {
  const { kind, type } = change;
  if (kind === "added" || kind === "removed")
    return ordinary[type]?.[kind]?.(change, next) ?? false;
  if (kind === "replaced") return false;
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
