/** An option as commander describes it. */
interface KnownOption {
  long?: string | undefined;
  short?: string | undefined;
  /** Like `--port <number>`. */
  flags: string;
  /** Whether it takes a value. */
  required: boolean;
}

/** npm's own options for which it takes some of ours, by their first letters or their one letter. */
const namesInNpm = new Map([
  ["--app", "parseable"],
  ["--to", "token_description"],
  ["-c", "call"],
]);

/**
 * Finds the options that were written before `--`, which npm keeps for itself.
 *
 * @param words the command line as npm passed it on.
 * @returns one line that says what to write instead; undefined if npm kept none.
 */
export function adviceOnNpm(
  options: readonly KnownOption[],
  words: readonly string[],
): string | undefined {
  const script = process.env["npm_lifecycle_event"];
  if (script === undefined) return undefined;
  const kept = options
    .map((option) => ({ ...option, value: keptByNpm(option) }))
    .filter(({ value, long = "" }) => value && !words.some((word) => word.startsWith(long)));
  if (kept.length === 0) return undefined;
  const given = (words[0] === script ? words.slice(1) : words).map(shellWord);
  // Of `--port 3001`, npm takes the option for a flag, and passes the value on among the words.
  const valueless = kept.filter(({ required, value }) => required && value === "true");
  const moved = valueless.length === 1 && given.length === 1 ? given[0] : undefined;
  const others = valueless.length === 0 ? given : moved === undefined ? ["..."] : [];
  const written = kept.map(({ long, flags, required, value = "" }) => {
    if (value !== "true") return `${long} ${shellWord(value)}`;
    if (!required) return long;
    return moved === undefined ? flags : `${long} ${moved}`;
  });
  const command = /^(start|test)$/.test(script) ? script : `run ${script}`;
  const line = ["npm", command, "--", ...others, ...written].join(" ");
  return `npm keeps options before -- for itself. Write: ${line}`;
}

function keptByNpm({ long = "", short = "" }: KnownOption): string | undefined {
  return [long, short]
    .flatMap((option) => [option.replace(/^-+/, ""), namesInNpm.get(option) ?? ""])
    .map((name) => process.env[`npm_config_${name.replaceAll("-", "_")}`])
    .find(Boolean);
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
