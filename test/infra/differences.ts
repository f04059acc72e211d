import {
  comparable,
  listChanges,
  type Template,
} from "../../infra/tools/deploy/compare-templates.ts";

/** How two templates differ: a line for each text, with the paths of all that it is said of. */
export function differences(before: Template, after: Template): string {
  const changes = listChanges(comparable(before), comparable(after));
  const byText = Map.groupBy(
    changes,
    ({ content, is, kind, property, replaces, type, was }) => {
      const values = [was, is].map((value) => JSON.stringify(value) ?? "unset");
      const replaced = replaces ? ", which replaces it" : "";
      return kind === "changed"
        ? `${property} ${values.join(" -> ")}${replaced}`
        : [kind, type, content["Value"]].filter(Boolean).join(" ");
    },
  );
  const lines = Array.from(byText, ([text, equal]) => {
    const paths = equal.map(({ path }) => path);
    return `\n  ${paths.join(", ")}: ${text}`;
  });
  return lines.join("");
}
