import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

/** The project's root, where `npm run admin` runs. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The arguments that `npm run admin` gives to node. Tests skip npm, which takes a second. */
export const adminCommand = packageJson.scripts.admin.replace(/^node /, "").split(" ");
