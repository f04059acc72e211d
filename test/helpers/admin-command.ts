import { fileURLToPath } from "node:url";

/** The project's root. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The arguments that `infra/petstore` gives to node. */
export const petstore = ["--max-old-space-size=2000", "infra/tools/petstore.ts"];
