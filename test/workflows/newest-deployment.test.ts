import { expect, test } from "vitest";
import { artifact, withArtifacts } from "./artifacts.ts";
import { readWorkflow } from "./steps.ts";

const deployJob = (await readWorkflow("deploy-environment.yml")).jobs.deploy;
const rejection = "Reject a run after a later one has deployed";

const earlier = [artifact(11, "08:00"), artifact(10, "07:00")];
const later = artifact(12, "09:00");

test.each([
  ["on the next page", [earlier, [later]]],
  ["first", [[later, ...earlier]]],
])("a run is rejected when a later one, which GitHub lists %s, has deployed", async (_, pages) => {
  const { ok, output } = await withArtifacts(deployJob, rejection, ...pages);
  expect(ok).toBe(false);
  expect(output).toMatch(/^::error::Run 12 is newer and has deployed to staging/);
});

test.each([
  ["nothing was ever deployed", []],
  ["an earlier one was the last to deploy", [artifact(9, "07:00")]],
  ["it was itself the last to deploy", [artifact(10, "07:00"), artifact(11, "08:00")]],
  ["the later one was a branch's", [artifact(12, "09:00", "release")]],
  ["the later one was a fork's", [artifact(12, "09:00", "main", 8)]],
])("a run deploys when %s", async (_reason, artifacts) => {
  const { ok, output, calls } = await withArtifacts(deployJob, rejection, artifacts);
  expect(ok).toBe(true);
  expect(output).toBe("");
  const query = "name=deployed-staging&per_page=100";
  expect(calls).toEqual([`api --paginate --slurp repos/acme/orders/actions/artifacts?${query}`]);
});
