import { Command, InvalidArgumentError } from "commander";
import { isApiKey } from "../../shared/api-keys.ts";
import { isInt64 } from "../../shared/order.ts";
import { optionDescription } from "../terminal/help.ts";

/**
 * Reads the options of `npm run smoke`, and its key from API_KEY. Wrong use ends the process with 2
 * and one line, which does not show the key.
 */
export function smokeOptions(argv: string[]) {
  const command = new Command("npm run smoke --")
    .description(
      "Check that a deployed service does what it promises its clients. " +
        "Changes nothing unless you name an order to cancel.",
    )
    .requiredOption(
      "--base-url <url>",
      "the stack's BaseUrl, or the one npm start prints",
      parseBaseUrl,
    )
    .option("--cancel <order-id>", "a pending order; it is cancelled for good", parseOrderId)
    .option(
      "--wait <seconds>",
      "how long a new stage may take to become ready (default: 120, on this machine 0)",
      parseSeconds,
    )
    .addHelpText("after", "\nSet the environment variable API_KEY to a key of that environment.")
    .configureHelp({ optionDescription })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse(argv);
  const { baseUrl, cancel, wait } = command.opts<{
    baseUrl: string;
    cancel?: string;
    wait?: number;
  }>();
  const apiKey = process.env["API_KEY"] ?? "";
  if (!isApiKey(apiKey)) command.error("API_KEY is missing or malformed.");
  return { baseUrl, apiKey, cancel, waitSeconds: wait ?? (isLocal(baseUrl) ? 0 : 120) };
}

/** Whether this is `npm start`, which is ready when it prints its address. */
function isLocal(baseUrl: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(new URL(baseUrl).hostname);
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || !/\/v1\/?$/.test(url.pathname)) {
    throw new InvalidArgumentError("The address must end in /v1.");
  }
  return `${url.origin}${url.pathname.replace(/\/$/, "")}`;
}

function parseOrderId(text: string): string {
  if (!isInt64(text)) throw new InvalidArgumentError("Not a 64-bit integer.");
  return text;
}

function parseSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("Not a whole number of seconds.");
  return Number(text);
}
