import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../infra/admin/program.ts";
import packageJson from "../../package.json" with { type: "json" };
import { everyOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (...patterns: string[]): string =>
  globSync(patterns, { cwd: root })
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");

const names = globSync(["*.md", ".github/**/*.md", "{functions,infra,shared,test}/**/*.md"], {
  cwd: root,
});
const pages = names.map((page) => {
  // A command that goes on in the next line is one.
  const text = readFileSync(join(root, page), "utf8").replaceAll(/\\\n\s*/g, "");
  const prose = text.replaceAll(/^ *```.*?^ *```/gms, "");
  return {
    page,
    text,
    spans: [...prose.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span.replaceAll(/\s+/g, " ")),
  };
});

/** The anchors that GitHub gives the headings of a page. */
function anchors(page: string): string[] {
  const headings = [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(
    ([, heading = ""]) => heading,
  );
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("every link in $page to the repository leads somewhere", ({ page, text }) => {
  const targets = [
    ...text.matchAll(/\]\((?!https?:)([^)\s]+)\)|(?:src|href)="(?!https?:)([^"]+)"/g),
  ];
  const dead = targets.filter(([, link, attribute]) => {
    const [path = "", anchor] = (link ?? attribute ?? "").split("#");
    const file = path === "" ? join(root, page) : join(root, dirname(page), path);
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return true;
    return anchor !== undefined && !anchors(file).includes(anchor);
  });
  expect(dead.map(([whole]) => whole)).toEqual([]);
});

test.each(pages)("every file that $page names exists", ({ page, spans }) => {
  const files = spans.filter((span) =>
    /^\w(?:[\w.-]*\/)+[\w.-]+\.(?:[cm]?ts|ya?ml|json|md)$/.test(span),
  );
  const missing = files.filter((file) =>
    [root, join(root, dirname(page))].every((folder) => !existsSync(join(folder, file))),
  );
  expect(missing).toEqual([]);
});

const admin = createProgram();

/** The words of a command line of `npm run admin` that the program doesn't know. */
function unknownTo(program: Command, line: string): string[] {
  let command = program;
  const unknown: string[] = [];
  for (const word of line.split(/[ =]/)) {
    const subcommand = command.commands.find((candidate) => candidate.name() === word);
    const known = [...command.options, ...program.options].map(({ long }) => long);
    if (subcommand) command = subcommand;
    else if (command.commands.length > 0 && /^[a-z-]+$/.test(word) && command !== program)
      unknown.push(word);
    else if (word.startsWith("--") && ![...known, "--help", "--"].includes(word))
      unknown.push(word);
  }
  return unknown;
}

test.each(pages)("every command and option of npm run admin in $page exists", ({ text, spans }) => {
  const calls = [...text.matchAll(/npm run (?:-[\w-]+ )*admin -- ([^`\n|<>#")]*)/g)].map(
    ([, line = ""]) => line,
  );
  const lines = [...calls, ...spans.filter((span) => /^(orders|keys) [a-z]/.test(span))];
  expect(
    lines.flatMap((line) => unknownTo(admin, line).map((word) => `${word} in: ${line}`)),
  ).toEqual([]);
});

test.each(pages)("every npm script in $page exists", ({ text }) => {
  const called = [...text.matchAll(/npm run (?:-[\w-]+ )*([a-z][\w:-]*)/g)].map(
    ([, script]) => script,
  );
  expect(
    called.filter((script) => !Object.keys(packageJson.scripts).includes(script ?? "")),
  ).toEqual([]);
});

describe("in the prose of a page", () => {
  const stack = JSON.stringify(templateOf(everyOption).toJSON());
  const sources = read(
    "{functions,shared,infra}/**/*.{ts,cjs,mjs,yaml}",
    "test/helpers/**/*.ts",
    "test/{bench,clients,mutation,protocol,resilience,steady}/*.ts",
    "*.json",
    ".github/**/*.yml",
  );
  const known = new Set(
    `${stack}${sources}`
      .match(/(?<!\w)(--)?[A-Za-z][\w-]*/g)
      ?.flatMap((word) => [word, ...word.split("-")]),
  );
  // Names of AWS and its SDK that nothing here calls.
  const foreign = [
    "--max-session-duration",
    "--method",
    "BatchWriteItem",
    "ConcurrentExecutions",
    "DeleteItem",
    "DescribeStream",
    "GetRecords",
    "GetShardIterator",
    "INCREMENTAL_EXPORT",
    "ListStreams",
    "SecurityAudit",
    "SuccessfulRequestLatency",
    "UPDATE_ROLLBACK_COMPLETE",
    "UPDATE_ROLLBACK_FAILED",
    "cacheMiddleware",
    "initDurationMs",
  ];

  // A changelog names what is gone.
  const present = pages.filter(({ page }) => !page.endsWith("CHANGELOG.md"));

  test.each(present)(
    "every event, alarm, setting and option in $page has the name it has in the code",
    (page) => {
      const named = /(?<![\w-])--[a-z][a-z-]*|(?<![\w-])[A-Za-z]\w*(?:_|[a-z][A-Z])\w*/g;
      const events = [...page.text.matchAll(/event = "(\w+)"/g)].map(([, event = ""]) => event);
      // What a page's own commands and examples use is known, too.
      const examples = new Set(
        page.text
          .match(/^ *```.*?^ *```/gms)
          ?.flatMap((block) => block.match(/(?:--)?[\w-]+/g) ?? []),
      );
      const words = page.spans
        .filter((span) => !/^(?:aws|curl) /.test(span))
        .flatMap((span) => span.match(named) ?? [])
        .filter((word) => !examples.has(word));
      const unknown = [...words, ...events].filter((word) => !known.has(word));
      expect(unknown.filter((word) => !foreign.includes(word))).toEqual([]);
    },
  );
});
