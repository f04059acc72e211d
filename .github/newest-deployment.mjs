// Reads the pages of GitHub's list of one environment's artifacts; prints the run that deployed
// last, its artifact, and when that was; nothing before the first deployment.
import { readFileSync } from "node:fs";

const [newest] = JSON.parse(readFileSync(0, "utf8"))
  .flatMap(({ artifacts }) => artifacts)
  // A fork's pull request may upload an artifact of any name. The run may have been deleted.
  .filter(
    ({ workflow_run: run }) =>
      run?.head_branch === "main" && run.head_repository_id === run.repository_id,
  )
  .sort((a, b) => b.created_at.localeCompare(a.created_at));
if (newest) console.log(newest.workflow_run.id, newest.id, newest.created_at);
