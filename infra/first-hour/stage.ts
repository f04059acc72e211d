import assert from "node:assert/strict";
import { CloudFormation, paginateListStackResources, type StackResourceSummary } from "@aws-sdk/client-cloudformation";
import { CloudWatchLogs, paginateFilterLogEvents } from "@aws-sdk/client-cloudwatch-logs";
import type { Clock } from "../../shared/clock.ts";
import type { Target } from "../admin/target.ts";
import type { Endpoint } from "../smoke/client.ts";

/** A deployed environment, and what has been changed in it for a while. */
export interface Stage extends Endpoint, Target {
  /** The resources of the stack. A logical id begins with the id of its construct. */
  resources: StackResourceSummary[];
  /** The working copy to deploy. */
  root: string;
  /** An environment that may lend its alarms. */
  lender: string | undefined;
  clock: Clock;
  /** Once it is aborted, nothing more is changed. */
  interrupted: AbortSignal;
  changes: { what: string; undo: () => Promise<unknown> }[];
}

/** Reads a stack's address and resources. @throws what CloudFormation's client throws. */
export async function readStack(StackName: string): Promise<Pick<Stage, "baseUrl" | "resources">> {
  const client = new CloudFormation();
  const { Stacks } = await client.describeStacks({ StackName });
  const { OutputValue: baseUrl = "" } = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === "BaseUrl") ?? {};
  const pages = await Array.fromAsync(paginateListStackResources({ client }, { StackName }));
  const resources = pages.flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries);
  return { baseUrl, resources };
}

/** The physical ids of the resources of a type, by how their logical ids begin. @throws AssertionError without any. */
export function idsOf({ resources }: Stage, type: string, start = ""): [string, ...string[]] {
  const found = resources.filter((resource) => resource.ResourceType === type);
  const [first, ...others] = found.flatMap(({ LogicalResourceId = "", PhysicalResourceId = "" }) =>
    LogicalResourceId.startsWith(start) ? [PhysicalResourceId] : [],
  );
  assert(first, `the stack has no ${type} ${start}`);
  return [first, ...others];
}

/** Makes a change. It may fail and be made all the same, so it is undone whatever becomes of it. */
export async function change(stage: Stage, what: string, make: () => Promise<unknown>, undo: () => Promise<unknown>) {
  stage.interrupted.throwIfAborted();
  const made = make();
  // Not while it is being made: that could come last.
  stage.changes.push({ what, undo: () => made.then(undo, undo) });
  await made;
}

/** Looks every five seconds, for five minutes, until it does not throw. @throws what it threw last. */
export async function eventually<Found>({ clock }: Stage, look: () => Promise<Found>): Promise<Found> {
  for (const end = clock.now() + 300_000; ; await clock.pause(5000)) {
    try {
      return await look();
    } catch (error) {
      if (clock.now() >= end) throw error;
    }
  }
}

export const cloudWatchLogs = new CloudWatchLogs();

/** Reads the first lines of a log that match a pattern, since a time in milliseconds. */
export async function logLines(logGroupName: string, filterPattern?: string, startTime?: number): Promise<string[]> {
  const lines: string[] = [];
  const search = { logGroupName, filterPattern, startTime };
  for await (const { events } of paginateFilterLogEvents({ client: cloudWatchLogs }, search)) {
    lines.push(...(events ?? []).map(({ message = "" }) => message));
    if (lines.length >= 25) break;
  }
  return lines.slice(0, 25);
}
