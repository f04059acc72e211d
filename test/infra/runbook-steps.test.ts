import { expect, test } from "vitest";
import { commands, section, valuesOf } from "../helpers/runbook.ts";

/** Expects every one of these texts, each after the one before. */
function inOrder(text: string, parts: string[]): void {
  const places = parts.map((part) => text.indexOf(part));
  expect(parts.filter((_part, index) => places[index] === -1)).toEqual([]);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}

test("no command gives up on something long, or shows only the first hundred resources", () => {
  expect(commands).not.toMatch(/wait table-(not-)?exists|describe-stack-resources/);
  expect(section("Roll back")).toContain("list-stack-resources");
});

test("rolling back cancels the run that waits, before it deploys without the canary, by workflow or by hand", () => {
  const steps = ["gh run list --workflow deploy.yml --status waiting", "gh run cancel", "update-alias"];
  const workflow = "gh workflow run deploy.yml --ref main -f straight-to-production=COMMIT";
  inOrder(section("Roll back"), [...steps, workflow, "-c canary=false"]);
});

test("a stuck rollback skips the aliases that are stuck and nothing else, and ends with a deployment", () => {
  const stuck = section("A stuck rollback");
  inOrder(stuck, [
    "`UPDATE_ROLLBACK_FAILED`",
    'npx cdk rollback "$STACK"',
    "move them back by hand",
    "[?\n  ResourceType=='AWS::Lambda::Alias' && ResourceStatus=='UPDATE_FAILED'].LogicalResourceId\" |\n  xargs ",
    'continue-update-rollback --stack-name "$STACK" --resources-to-skip\n',
    "wait stack-rollback-complete",
    "Deploy the last good commit",
  ]);
});

test("clients move to a domain of one's own before the gateway's address is switched off", () => {
  inOrder(section("Your own domain"), [
    "acm request-certificate",
    "Set `domain` with `keepGatewayAddress: true`, and deploy",
    "Check the new address",
    '{ $.domainName = "*.execute-api.*" }',
    "set `keepGatewayAddress: false` and deploy",
  ]);
});

test("GitHub is told everything about an environment in one call, and only of main", () => {
  const calls = [...commands.matchAll(/-X PUT repos\/OWNER\/REPO\/environments\/(\w+) --input - <<< '(.*?)'/gs)].map(
    ([, name, body = ""]) => [name, JSON.parse(body.replace("TEAM_ID", "1"))],
  );
  const everywhere = {
    can_admins_bypass: false,
    deployment_branch_policy: { protected_branches: false, custom_branch_policies: true },
  };
  expect(Object.fromEntries(calls)).toEqual({
    staging: everywhere,
    production: { ...everywhere, prevent_self_review: true, reviewers: [{ type: "Team", id: 1 }] },
  });
  expect(commands).toMatch(/deployment-branch-policies" -f name=main\n/);
});

test("the pipeline's trust names the subject with ids, how to look them up, and the subject without", () => {
  const pipeline = section("Pipeline");
  for (const fact of [
    '"repo:OWNER@OWNER_ID/REPO@REPO_ID:environment:staging"',
    "gh api repos/OWNER/REPO --jq '.owner.id,.id'",
    "`repo:OWNER/REPO:environment:staging`",
  ]) {
    expect(pipeline).toContain(fact);
  }
});

test("the first deployment begins with the account's quota, in an account for each environment", () => {
  inOrder(section("First deployment"), [
    "staging and production an AWS account each",
    "aws lambda get-account-settings",
    "run deploy",
  ]);
  // Service Quotas rejects a request that does not exceed the default.
  for (const value of valuesOf(/--desired-value (\d+)/g)) expect(Number(value)).toBeGreaterThan(1000);
});
