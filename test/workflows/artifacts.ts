import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runStep, type Step, temporaryDirectory } from "./steps.ts";

/** The artifact of a run's deployment as GitHub lists it, created at a time like `08:00`. */
export function artifact(
  run: number,
  created: string,
  head_branch = "main",
  head_repository_id = 7,
) {
  return {
    id: run * 100,
    created_at: `2026-11-20T${created}:00Z`,
    workflow_run: { id: run, head_branch, repository_id: 7, head_repository_id },
  };
}

/** Runs a step of run 11 while GitHub lists these pages of artifacts. That of run 1 has expired. */
export async function withArtifacts(
  job: { steps: Step[] },
  step: string,
  ...pages: ReturnType<typeof artifact>[][]
) {
  const directory = await temporaryDirectory();
  const github = fileURLToPath(new URL("../../.github", import.meta.url));
  await symlink(github, join(directory, ".github"));
  const listed = JSON.stringify(pages.map((artifacts) => ({ artifacts })));
  const gh = `case "$*" in
    *name=*) echo '${listed}';;
    */100/zip) exit 1;;
    *) echo "the template";;
  esac`;
  const env = {
    GITHUB_REPOSITORY: "acme/orders",
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_RUN_ID: "11",
    ENVIRONMENT: "staging",
  };
  const unzip = 'mkdir -p "$4"; cp "$2" "$4/last.template.json"';
  return runStep(job, step, { directory, env, programs: { gh, unzip } });
}
