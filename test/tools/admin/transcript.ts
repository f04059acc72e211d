/** A session without the indent of the test, and with its long lines whole. */
export function sessionOf(strings: TemplateStringsArray, values: unknown[]): string {
  const text = String.raw(strings, ...values);
  const [indent = ""] = /^\n */.exec(text) ?? [];
  return `${text.replaceAll(indent, "\n").replaceAll("\\\n", "").trim()}\n`;
}

/** Performs each command of a session, and returns the session with what they have printed. */
export async function seenIn(
  session: string,
  perform: (command: string, input: string) => Promise<string[]>,
): Promise<string> {
  let seen = "";
  for (const step of session.split(/^\$ /m).slice(1)) {
    const [command = "", ...below] = step.trimEnd().split("\n");
    const input = below.filter((line) => line.startsWith(">"));
    const typed = input.map((line) => `${line.slice(2)}\n`).join("");
    const shown = marked(await perform(command, typed), below.slice(input.length));
    seen += [`$ ${command}`, ...input, ...shown, ""].join("\n");
  }
  return seen;
}

/** Printed lines as the session has them, where it has them, so that only the others differ. */
function marked(printed: string[], expected: string[]): string[] {
  let rest = expected;
  const shown = printed.flatMap((line) => {
    const index = rest.findIndex((like) => like !== "…" && isLike(line, like));
    if (index < 0) return rest[0] === "…" ? [] : [line];
    const passed = rest.slice(0, index + 1);
    rest = rest.slice(index + 1);
    return passed.filter((like, place) => like === "…" || place === index);
  });
  return rest[0] === "…" ? [...shown, "…"] : shown;
}

function isLike(line: string, like: string): boolean {
  return new RegExp(`^${RegExp.escape(like).replaceAll("…", ".*")}$`).test(line);
}

/** The words of a command. Quotes and braces keep spaces. */
export function wordsOf(command: string): string[] {
  const words = command.matchAll(/'([^']*)'|\{.*\}|\S+/g);
  return Array.from(words, ([word, quoted]) => quoted ?? word);
}
