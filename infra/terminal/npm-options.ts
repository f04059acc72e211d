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
  const { npm_lifecycle_event: script } = process.env;
  if (script === undefined) return undefined;
  const kept = options.filter((flags) => {
    const names = flags.split(/[ ,]+/).filter((word) => word.startsWith("-"));
    const name = names.at(-1) ?? "";
    return names.some(isKeptByNpm) && !words.some((word) => word.startsWith(name));
  });
  if (kept.length === 0) return undefined;
  const command = /^(start|test)$/.test(script) ? script : `run ${script}`;
  const written = kept.map((flags) => flags.replace(/^-., /, ""));
  const others = words.length > 0 ? ["..."] : [];
  const line = ["npm", command, "--", ...others, ...written].join(" ");
  return `npm keeps options before -- for itself. Write: ${line}`;
}

function isKeptByNpm(option: string) {
  const name = option.replace(/^-+/, "").replaceAll("-", "_");
  return [name, namesInNpm[name]].some((known) => process.env[`npm_config_${known}`]);
}
