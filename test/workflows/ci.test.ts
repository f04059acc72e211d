import { globSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { git, readWorkflow, runJob, temporaryDirectory } from "./steps.ts";

const { test: job } = (await readWorkflow("ci.yml")).jobs;

/** What `.ci/run` reads. */
const files = [
  ".ci/run",
  "cdk.json",
  "infra/README.md",
  "infra/environments.ts",
  "infra/own.ts",
  "shared/ORDERS-TABLE.md",
  "test/helpers/company-environments.ts",
];

/** Makes a checkout with a line in cdk.json's context. */
async function makeCheckout(context = "") {
  const directory = await temporaryDirectory();
  for (const file of files) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await copyFile(file, join(directory, file));
  }
  const cdk = await readFile("cdk.json", "utf8");
  const withContext = cdk
    .replace(/.*bootstrapQualifier.*\n/, "")
    .replace('"context": {', `$&\n    ${context}`);
  await writeFile(join(directory, "cdk.json"), withContext);
  git(directory, "init", "--quiet");
  git(directory, "add", ".");
  git(directory, "commit", "--quiet", "--message", "A checkout");
  return directory;
}

/**
 * Runs the job with a npm that reports two tests as passed.
 *
 * @param red where it fails at what, like `ours test`.
 * @param skipped where a test is skipped.
 */
async function runCi(directory: string, red: string, skipped: string) {
  const npm = `where=\${PWD##*/}
    [ "$where" = company ] || where=ours
    if [ "$1" = test ]; then
      count=0
      [ "$where" != "${skipped}" ] || count=1
      report='{ "numPassedTests": 2, "numFailedTests": 0, "numPendingTests": %s }'
      file=\${!#}
      printf "$report" $count > "\${file#*=}"
    fi
    [ "$where" = ours ] || {
      [ "$(grep -c acme cdk.json)" = 1 ] && grep -q Acme infra/environments.ts shared/*.md &&
        ! grep -qE 'PetStoreOrders-[ps]|Adds parts' infra/*.* shared/*
    } || exit
    case "$where $*" in "${red}"*) exit 1;; esac`;
  const programs = { npm, "apt-get": "", chromium: "", python3: "" };
  return runJob(job, { directory, programs, env: { TMPDIR: directory } });
}

describe.runIf(machineHas("git", "what makes CI fail"))("CI", () => {
  let checkout: string;
  beforeAll(async () => {
    checkout = await makeCheckout();
  });

  test("passes when our settings and a company's pass", async () => {
    const { ok, output, calls } = await runCi(checkout, "nothing", "nowhere");
    expect({ ok, output }).toEqual({ ok: true, output: "4 passed, 0 failed\n" });
    expect(globSync(`${checkout}/tmp.*`)).toEqual([]);
    // Nothing is missing, so nothing is installed.
    const commands = calls.filter((call) => /^(npm|apt-get) /.test(call));
    const kinds = commands.map((call) => call.replace(/ -- .*/, ""));
    const checked = ["npm run check", "npm test"];
    expect(kinds).toEqual(["npm ci", ...checked, ...checked]);
  });

  test("passes with a bootstrap qualifier of one's own", async () => {
    const qualifier = '"@aws-cdk/core:bootstrapQualifier": "acme",';
    const directory = await makeCheckout(qualifier);
    expect(await runCi(directory, "nothing", "nowhere")).toMatchObject({ ok: true });
  });

  test.each([
    ["npm ci", "ours ci", "nowhere"],
    ["a check of ours", "ours run check", "nowhere"],
    ["a company's test", "company test", "nowhere"],
    ["a test of ours that is skipped", "nothing", "ours"],
    ["a company's test that is skipped", "nothing", "company"],
  ])("fails for %s", async (_, red, skipped) => {
    const { ok, output } = await runCi(checkout, red, skipped);
    const counted = output.endsWith(
      "1 skipped, which counts as failed\n4 passed, 1 failed\n",
    );
    expect({ ok, counted }).toEqual({ ok: false, counted: skipped !== "nowhere" });
  });
});
