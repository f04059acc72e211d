// `npm run smoke`.
import { smokeOptions } from "./options.ts";
import { report, smoke } from "./smoke-test.ts";

const options = smokeOptions(process.argv);
console.log(`Smoke test of ${options.baseUrl}`);
await report(smoke(options));
