import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StackToCompare } from "./template.ts";

/** Runs CDK, which npm puts on the path, in the caller's terminal. @returns its exit code; 1 when a signal ended it. */
export async function cdk(...words: string[]): Promise<number> {
  const [exitCode] = await once(spawn("cdk", words, { stdio: "inherit" }), "exit");
  return exitCode ?? 1;
}

/**
 * Reads a stack of a synthesised app.
 *
 * @param directory what CDK calls the cloud assembly, usually `cdk.out`.
 * @throws Error when it does not have the stack, and what the file system throws.
 */
export async function readAssembly(directory: string, stackName: string): Promise<StackToCompare> {
  const { artifacts } = await readJson(join(directory, "manifest.json"));
  const properties = artifacts?.[stackName]?.properties;
  if (properties === undefined) throw new Error(`${directory} has no stack ${stackName}`);
  const { templateFile, terminationProtection = false } = properties;
  return { template: await readTemplate(join(directory, templateFile)), terminationProtection };
}

/** @throws Error when the file is not a template in JSON, and what the file system throws. */
export async function readTemplate(file: string): Promise<StackToCompare["template"]> {
  const template = await readJson(file);
  if (typeof template?.Resources !== "object") throw new Error(`${file} is not a template: it has no Resources`);
  return template;
}

async function readJson(file: string) {
  const text = await readFile(file, "utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON`);
  }
}
