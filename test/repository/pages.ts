import { globSync, readFileSync } from "node:fs";

/** What the first group of a pattern captures, for each match in a text. */
export function captured(text: string, pattern: RegExp) {
  return Array.from(text.matchAll(pattern), ([, group = ""]) => group);
}

const names = globSync([
  "*.md",
  ".github/**/*.md",
  "{functions,infra,shared,test}/**/*.md",
]);
/** The pages of the project, their commands each in one line. */
export const pages = names.map((page) => {
  // A command that goes on in the next line is one.
  const text = readFileSync(page, "utf8").replaceAll(/\\\n\s*/g, "");
  const prose = text.replaceAll(/^ *```.*?^ *```/gms, "");
  const blocks = captured(text, /^ *```\w*\n(.*?)^ *```/gms);
  return {
    page,
    text,
    blocks,
    spans: captured(prose, /`([^`]+)`/g).map((span) => span.replaceAll(/\s+/g, " ")),
  };
});
