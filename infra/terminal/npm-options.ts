/** The options of npm for which it takes one of ours, by its first letters or its one letter. */
const namesInNpm: Record<string, string> = { app: "parseable", c: "call" };

/**
 * Finds the options that were written before `--`, which npm keeps for itself.
 *
 * @param options all that the script has, like `--watch` and `-p, --port <number>`.
 * @param words the command line as npm passed it on.
 * @returns one line that says what to write instead; undefined if npm kept none.
 */
export function adviceOnNpm(
  options: readonly string[],
  words: readonly string[],
): string | undefined {
  const script = process.env["npm_lifecycle_event"];
  if (script === undefined) return undefined;
  const kept = options.flatMap((flags) => {
    const names = flags.split(/[ ,]+/).filter((word) => word.startsWith("-"));
    const name = names.at(-1) ?? "";
    const value = names.map(keptByNpm).find(Boolean);
    if (value === undefined || words.some((word) => word.startsWith(name))) return [];
    // Of `--port 3001`, npm takes the option for a flag, and passes the value on among the words.
    return { flags, name, value, lacksValue: value === "true" && flags.includes("<") };
  });
  if (kept.length === 0) return undefined;
  const given = (words[0] === script ? words.slice(1) : words).map(shellWord);
  const lacking = kept.filter(({ lacksValue }) => lacksValue).length;
  const isFound = lacking === 1 && given.length === 1;
  const others = lacking === 0 ? given : isFound ? [] : ["..."];
  const written = kept.map(({ flags, name, value, lacksValue }) => {
    if (lacksValue) return isFound ? `${name} ${given}` : flags;
    return value === "true" ? name : `${name} ${shellWord(value)}`;
  });
  const command = /^(start|test)$/.test(script) ? script : `run ${script}`;
  const line = ["npm", command, "--", ...others, ...written].join(" ");
  return `npm keeps options before -- for itself. Write: ${line}`;
}

/** What npm has kept of an option: its value, or `true`. */
function keptByNpm(option: string): string | undefined {
  const name = option.replace(/^-+/, "").replaceAll("-", "_");
  const { env } = process;
  return env[`npm_config_${name}`] || env[`npm_config_${namesInNpm[name]}`];
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
