import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = globSync(["*.md", ".github/**/*.md", "{functions,infra,shared,test}/**/*.md"], { cwd: root });

/** The anchors that GitHub gives the headings of a page. */
function anchors(page: string): string[] {
  const headings = [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("the links within the repository in %s lead somewhere", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const targets = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)|(?:src|href)="(?!https?:)([^"]+)"/g)];
  const dead = targets.filter(([, link, attribute]) => {
    const [path = "", anchor] = (link ?? attribute ?? "").split("#");
    const file = path === "" ? join(root, page) : join(root, dirname(page), path);
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return true;
    return anchor !== undefined && !anchors(file).includes(anchor);
  });
  expect(dead.map(([whole]) => whole)).toEqual([]);
});
