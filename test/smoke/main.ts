import { Command, InvalidArgumentError } from "commander";
import { isApiKey } from "../../shared/api-keys.ts";
import { isInt64 } from "../../shared/order.ts";
import { smoke } from "./smoke.ts";

interface Options {
  baseUrl: string;
  cancel?: string;
}

const command = new Command("npm run smoke --")
  .description("Holds a deployed service to its promises. It changes nothing, unless an order to cancel is named.")
  .requiredOption("--base-url <url>", "the BaseUrl of the stack, or the one npm start prints", parseBaseUrl)
  .option("--cancel <order-id>", "a pending order; it is cancelled for good", parseOrderId)
  .addHelpText("after", "\nThe environment variable API_KEY holds a key of that environment.")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const { baseUrl, cancel } = command.opts<Options>();
const apiKey = process.env["API_KEY"] ?? "";
if (!isApiKey(apiKey)) command.error("API_KEY must hold an API key; there is none of the right form in it");

const counts = { kept: 0, broken: 0, found: 0 };
console.log(`Smoke test of ${baseUrl}`);
for await (const line of smoke({ baseUrl, apiKey, cancel })) {
  counts[line.kind] += 1;
  if (line.kind === "kept") console.log(`kept    ${line.promise}`);
  else if (line.kind === "broken") console.log(`BROKEN  ${line.promise}: ${line.seen}`);
  else console.log(`found   ${line.question}: ${line.answer}`);
}
console.log(`${counts.kept} promises kept, ${counts.broken} broken`);
process.exitCode = counts.broken === 0 ? 0 : 1;

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || !/\/v1\/?$/.test(url.pathname)) {
    throw new InvalidArgumentError("It must be an address that ends in /v1.");
  }
  return `${url.origin}${url.pathname.replace(/\/$/, "")}`;
}

function parseOrderId(text: string): string {
  if (!isInt64(text)) throw new InvalidArgumentError("It is no int64.");
  return text;
}
