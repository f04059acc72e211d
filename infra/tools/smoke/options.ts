import { type Command, InvalidArgumentError } from "commander";
import { isApiKey } from "../../../shared/api-keys.ts";
import { isInt64 } from "../../../shared/order.ts";
import { accepting, wholeNumber } from "../terminal/script.ts";

interface Options {
  baseUrl: string;
  cancel?: string;
  thorough?: true;
  yes?: true;
  wait?: number;
}

export type SmokeOptions = ReturnType<typeof smokeOptions>;

/** Loads the checks, which takes a while. */
const loadAndRun = async (options: SmokeOptions) =>
  (await import("./smoke.ts")).runSmoke(options);

/**
 * Adds `smoke`, which reads its key from API_KEY. Wrong use ends with 2 and one line, which does not
 * show the key.
 */
export function addSmoke(command: Command, run = loadAndRun) {
  command
    .requiredOption(
      "--base-url <url>",
      "the stack's BaseUrl, or the one `petstore start` prints",
      parseBaseUrl,
    )
    .option(
      "--cancel <order-id>",
      "a pending order; it is cancelled for good",
      accepting(isInt64, "Not a 64-bit integer."),
    )
    .option(
      "--thorough",
      "also read a list for a minute, cancel the order of --cancel twenty times at once, and " +
        "send requests until AWS rejects some with 429; asks first",
    )
    .option("--yes", "don't ask")
    .option(
      "--wait <seconds>",
      "how long a new stage may take to become ready (default: 120, on this machine 0)",
      wholeNumber(0, 9999),
    )
    .addHelpText(
      "after",
      "\nChanges nothing unless you name an order to cancel. " +
        "Set the environment variable API_KEY to a key of that environment.",
    )
    .action(() => run(smokeOptions(command)));
}

function smokeOptions(command: Command) {
  const { baseUrl, cancel, thorough = false, wait, yes } = command.opts<Options>();
  const isLocal = isThisMachine(new URL(baseUrl));
  const apiKey = process.env["API_KEY"] ?? "";
  if (!isApiKey(apiKey)) command.error("API_KEY is missing or malformed.");
  const asks = thorough && !yes;
  if (asks && !process.stdin.isTTY)
    command.error("No terminal to ask on. Add --yes to go ahead.");
  // `npm start` is ready when it prints its address.
  const waitSeconds = wait ?? (isLocal ? 0 : 120);
  return { baseUrl, apiKey, isLocal, cancel, thorough, asks, waitSeconds };
}

function isThisMachine({ hostname }: URL) {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function parseBaseUrl(text: string) {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || !/\/v1\/?$/.test(url.pathname))
    throw new InvalidArgumentError("The address must end in /v1.");
  if (url.protocol === "http:" && !isThisMachine(url))
    throw new InvalidArgumentError("Use https://; http:// is for this machine only.");
  return `${url.origin}${url.pathname.replace(/\/$/, "")}`;
}
