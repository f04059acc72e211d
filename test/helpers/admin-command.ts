import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The project's root, where `npm run admin` runs. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The arguments that `npm run admin` gives to node. Tests skip npm, which takes a second. */
export async function adminCommand(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(`${root}/package.json`, "utf8"));
  const [node, ...args] = String(scripts.admin).split(" ");
  if (node !== "node") throw new Error(`npm run admin does not run node, but ${node}`);
  return args;
}
