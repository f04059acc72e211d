import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readWorkflow, type Step } from "./steps.ts";

interface Job {
  steps?: Step[];
  permissions?: Record<string, string>;
  uses?: string;
}

const workflows = await Promise.all(
  globSync(".github/workflows/*.yml").map((file) => readWorkflow(basename(file))),
);
const allJobs = workflows.flatMap(({ name, permissions, jobs }) =>
  Object.entries<Job>(jobs).map(([job, { steps = [], ...rest }]) => ({
    name,
    permissions,
    job,
    steps,
    ...rest,
  })),
);

test.each(workflows)(
  "$name pins each action, keeps no credentials, writes nothing and stops at failures",
  ({ text, permissions }) => {
    for (const [, action] of text.matchAll(/uses: (?!\.\/)(.*)/g))
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(permissions).toBeDefined();
    expect(text).not.toMatch(
      /secrets|aws-access-key-id|AWS_SECRET|: write(?<!id-token: write)/,
    );
    // Another shell might not stop at the first command that fails.
    expect(text).not.toMatch(/continue-on-error|always\(\)|\|\| true|shell:|defaults:/);
  },
);

test.each(allJobs)(
  "the job $job of $name runs no text of a caller, may read what it checks out, and asks for a role only to deploy or find drift",
  ({ job, steps, permissions, uses }) => {
    for (const { run = "", uses, with: options } of steps) {
      expect(run).not.toContain("${{");
      if (!uses?.startsWith("actions/checkout@")) continue;
      expect(options).toMatchObject({ "persist-credentials": false });
      expect(permissions).toMatchObject({ contents: "read" });
    }
    const mayAsk = uses === "./.github/workflows/deploy-environment.yml";
    const isAsking = permissions?.["id-token"] === "write";
    expect(isAsking).toBe(mayAsk || ["deploy", "drift"].includes(job));
  },
);

/** A list of jobs or environments without those that a team has added. */
const withoutOthers = (list: string) =>
  `[${list.match(/\b(commit|build|changes|ci|staging|production)\b/g)}]`;
/** A part of a workflow in one line, without other environments than the sample's. */
const brief = (part: object) =>
  JSON.stringify(part)
    .replaceAll(
      /,?"(persist-cred|audience|runs-on":"\w)[^,}]*|["{}]|\$\{\{ | \}\}|:null/g,
      "",
    )
    .replaceAll(/,(?=[\w-]+:\S)/g, " ")
    .replaceAll(/:(?=[^\s/])/g, "=")
    .replaceAll(/\[[^\]]*staging[^\]]*\]/g, withoutOthers)
    .replaceAll(/,(?=\S)/g, ", ")
    .trim();

const outlines: Record<string, Record<string, unknown>> = parse(
  readFileSync("test/workflows/outlines.yaml", "utf8"),
);

test.each(Object.entries(outlines))(
  "%s starts, waits, stops, and passes on commits, builds and words as its outline says",
  async (file, listed) => {
    const { on, jobs } = await readWorkflow(file);
    const outline = Object.entries<Job>(jobs).map(([job, { steps = [], ...rest }]) => [
      job,
      [
        brief(rest),
        ...steps.map(({ name, uses, run, with: values, ...others }) =>
          `${name ?? uses?.split("@")[0] ?? run} ${brief({ ...values, ...others })}`.trim(),
        ),
      ],
    ]);
    expect({ on: brief(on), ...Object.fromEntries(outline) }).toMatchObject(listed);
  },
);
