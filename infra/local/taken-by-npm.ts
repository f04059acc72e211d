import type { Option } from "commander";

/**
 * The options that npm took for its own, which it does with those before `--`, as they should follow it; undefined when
 * there are none. npm leaves their values behind, unless they were joined with `=`.
 */
export function takenByNpm(options: readonly Option[]): string | undefined {
  const { argv, env } = process;
  if (env["npm_lifecycle_event"] !== "start") return undefined;
  const [value, ...others] = argv.slice(2);
  const taken = options.flatMap(({ flags, long, required }) => {
    const given = env[`npm_config_${long?.slice(2).replaceAll("-", "_")}`];
    if (!long || !given || argv.includes(long)) return [];
    if (!required) return [long];
    const said = given === "true" && others.length === 0 ? value : given;
    return [said === undefined || said === "true" ? flags : `${long} ${said}`];
  });
  return taken.length === 0 ? undefined : taken.join(" ");
}
