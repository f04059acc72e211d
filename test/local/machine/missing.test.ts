import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

/** Runs a script as on such a Linux machine. */
function preloadOn(machine: { node?: string; arch?: string; glibc?: string }) {
  const { node = process.versions.node, arch = process.arch, glibc = "2.36" } = machine;
  const code = `
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } });
    Object.defineProperty(process, "arch", { value: "${arch}" });
    Object.defineProperty(process, "platform", { value: "linux" });
    process.report.getReport = () => ({ header: { glibcVersionRuntime: ${glibc || undefined} } });
    require("./infra/require-node-24.cjs");`;
  const { stderr, status } = spawnSync(process.execPath, ["--eval", code], { encoding: "utf8" });
  return { stderr, status };
}

test("a script lists everything that a machine lacks", () => {
  const arch = process.arch === "x64" ? "arm64" : "x64";
  const { stderr, status } = preloadOn({ node: "20.1.0", arch, glibc: "" });
  expect(status).toBe(1);
  const things = stderr.split("\n").filter((line) => line.startsWith("- "));
  expect(things).toEqual([
    expect.stringContaining("Node 24"),
    "- glibc: Alpine and other systems on musl are not supported",
    expect.stringContaining("a DynamoDB engine. Any of these commands provides one:"),
  ]);
});

test("a script prints the command that installs the engine of this machine", () => {
  const arch = process.arch === "x64" ? "arm64" : "x64";
  expect(preloadOn({ node: "20.1.0", arch, glibc: "" }).stderr).toMatch(
    new RegExp(`^    npm install --no-save @dynoxide/linux-${arch}@\\d+\\.\\d+\\.\\d+$`, "m"),
  );
});

test("a script prints the docker command of infra/local/README.md", async () => {
  const page = await readFile("infra/local/README.md", "utf8");
  const { stderr } = preloadOn({ node: "20.1.0", arch: "riscv64" });
  const [command = "missing"] = /docker run .*/.exec(stderr) ?? [];
  expect(page).toContain(command);
});

test("a script doesn't mention glibc where it is present", () => {
  expect(preloadOn({ node: "22.22.0" }).stderr).not.toContain("glibc");
});

test("a script that needs no engine accepts a machine that lacks only that", () => {
  expect(preloadOn({ node: "26.0.0", arch: "riscv64" })).toEqual({ stderr: "", status: 0 });
});
