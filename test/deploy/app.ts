import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, beforeEach, vi } from "vitest";
import { runDeploy } from "../../infra/deploy/deploy.ts";
import { region } from "./aws.ts";
import { environments, stackName, templateUsing } from "./environments.ts";

/** A synthesised app, with a fake CDK beside it. */
export interface App {
  /** The directory with the manifest, its template and the fake CDK. */
  directory: string;
  /** Makes this the synthesised template of the environment's stack. */
  synthesise(template: object): Promise<void>;
  /** Has the fake CDK end with a shell command, like `exit 1`. */
  endCdkWith(command: string): Promise<void>;
  /** Has no CDK on the path. */
  removeCdk(): Promise<void>;
  /**
   * Runs a command. Returns its exit code, and the lines it printed, followed by its calls of CDK.
   */
  run(...words: string[]): Promise<Outcome>;
}

interface Outcome {
  exitCode: unknown;
  output: string[];
}

/** Makes an app for the tests of a file. Its `directory` is known once they run. */
export function useApp(): App {
  const app: App = { directory: "", synthesise, endCdkWith, removeCdk, run };
  const file = (name: string) => join(app.directory, name);
  beforeAll(async () => {
    app.directory = await mkdtemp(join(tmpdir(), "pet-store-orders-deploy-"));
    const type = "aws:cloudformation:stack";
    const environment = "aws://unknown-account/unknown-region";
    const stack = { type, environment, properties: { templateFile: "next.json" } };
    const manifest = { version: "36.0.0", artifacts: { [stackName]: stack } };
    await writeFile(file("manifest.json"), JSON.stringify(manifest));
    // Put together, or the source would seem to hold a secret: see repository/secrets.test.ts.
    const keys = ["aws_access_key_id", "aws_secret_access_key"].map((name) => `${name} = other\n`);
    await writeFile(file("credentials"), `[other]\n${keys.join("")}`);
    return () => rm(app.directory, { recursive: true });
  });
  beforeEach(async () => {
    await synthesise(templateUsing("NEW"));
    // A code that nothing else exits with.
    await endCdkWith("exit 7");
  });

  function synthesise(template: object): Promise<void> {
    return writeFile(file("next.json"), JSON.stringify(template));
  }
  function endCdkWith(command: string): Promise<void> {
    const script = `#!/bin/sh\necho "cdk $*" >> "$CDK_CALLS"; ${command}\n`;
    return writeFile(file("cdk"), script, { mode: 0o755 });
  }
  function removeCdk(): Promise<void> {
    return rm(file("cdk"));
  }
  async function run(...words: string[]): Promise<Outcome> {
    const calls = file("cdk.calls");
    await writeFile(calls, "");
    vi.stubEnv("PATH", app.directory);
    vi.stubEnv("CDK_CALLS", calls);
    vi.stubEnv("AWS_DEFAULT_REGION", region);
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file("credentials"));
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    const { exitCode, lines } = await capture(() => runDeploy(words, environments));
    const cdkCalls = (await readFile(calls, "utf8")).split("\n").filter(Boolean);
    return { exitCode, output: [...lines, ...cdkCalls] };
  }
  return app;
}

/** Runs a command. Returns its exit code and the lines it prints: first stdout's, then stderr's. */
async function capture(command: () => Promise<void>) {
  const exitCodeBefore = process.exitCode;
  const log = vi.spyOn(console, "log").mockReturnValue();
  const error = vi.spyOn(console, "error").mockReturnValue();
  // Commander writes there itself.
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    process.exitCode = 0;
    await command();
    const printed = [log, error, stderr].flatMap(({ mock }) => mock.calls.map(([text]) => text));
    return { exitCode: process.exitCode, lines: printed.map((text) => String(text).trim()) };
  } finally {
    process.exitCode = exitCodeBefore;
    for (const spy of [log, error, stderr]) spy.mockRestore();
  }
}
