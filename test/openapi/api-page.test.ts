import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { beforeTests } from "../helpers/before-tests.ts";
import { reportSkipped } from "../helpers/machine.ts";
import { document } from "../helpers/openapi/document.ts";
import { startTestStack } from "../helpers/test-stack.ts";
import { browserPath, openApiPage } from "./page.ts";

/** The texts of a page whose contrast is below 4.5:1, as WCAG 2 computes it. */
const unreadable = `(() => {
  const colour = (css) => css.match(/[\\d.]+/g).map(Number);
  const linear = (part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) =>
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const background = (element) => {
    if (element === null) return [255, 255, 255];
    const found = colour(getComputedStyle(element).backgroundColor);
    return (found[3] ?? 1) > 0.5 ? found : background(element.parentElement);
  };
  const contrast = (element) => {
    const levels = [colour(getComputedStyle(element).color), background(element)].map(luminance);
    return (Math.max(...levels) + 0.05) / (Math.min(...levels) + 0.05);
  };
  return [...document.querySelectorAll("body *")]
    .filter((element) => [...element.childNodes].some(({ data }) => data?.trim()))
    .filter((element) => element.checkVisibility({ visibilityProperty: true }))
    .filter((element) => contrast(element) < 4.5)
    .map((element) => element.textContent);
})()`;

test("README's pictures show the descriptions as they are now: node test/openapi/screenshot.ts", () => {
  const [list, cancel] = Object.values(document.paths).flatMap((path) =>
    Object.values(path),
  );
  const texts = [list?.summary, cancel?.summary, cancel?.description];
  const shown = texts.join(" ").replaceAll("`", "").replaceAll(/\s+/g, " ").trim();
  expect(readFileSync("test/openapi/page.txt", "utf8")).toBe(`${shown}\n`);
});

const stack = beforeTests(startTestStack);

// CI installs one, so there its absence is a failure.
const hasBrowser = browserPath !== undefined || Boolean(process.env["CI"]);
if (!hasBrowser) reportSkipped("Chromium or Chrome", "the API page");
describe.runIf(hasBrowser)("the page at / in a browser", () => {
  const opened = beforeTests(async (running) => {
    const page = await openApiPage(new URL("/", stack.baseUrl).href);
    running.defer(page.close);
    return page;
  });

  test("shows the document's operations on a laptop's first screen, and nothing to place", async () => {
    const { page } = opened;
    const texts = page.locator(".opblock-summary-method, .opblock-summary-description");
    const shown = Object.values(document.paths)
      .flatMap(Object.entries)
      .flatMap(([method, { summary }]) => [method.toUpperCase(), summary]);
    expect(await texts.allInnerTexts()).toEqual(shown);
    expect(await page.title()).toBe("Pet Store Orders Service");
    const { y, height } = (await page.locator(".opblock").last().boundingBox()) ?? {};
    expect(Number(y) + Number(height)).toBeLessThan(768);
    const text = await page.locator("#reference").innerText();
    expect(text).toMatch(/Errors, integers, limits, versions.*\/v1 - This machine/s);
    expect(text).not.toContain("Place");
  });

  test("lists the orders digit for digit with the key that is filled in", async () => {
    await opened.unfold("listOrders");
    const { status, body = "" } = await opened.execute("listOrders");
    expect(status).toBe("200");
    expect(JSON.parse(body)).toHaveLength(stack.seeded);
    expect(body).toContain('"id": 9223372036854775807');
    expect(body).toContain('"petId": -9223372036854775808');
  });

  test("cancels an order with an id beyond 2^53 exactly once", async () => {
    await opened.unfold("cancelOrder");
    await opened.orderId.fill("9223372036854775807");
    expect(await opened.execute("cancelOrder")).toEqual({
      status: "204",
      body: undefined,
    });
    const { status, body } = await opened.execute("cancelOrder");
    expect(status).toBe("409");
    expect(body).toContain('"code": "order_already_cancelled"');
  });

  test("says what is wrong with a malformed id, in place of the last response", async () => {
    const operation = opened.operation("cancelOrder");
    const response = operation.locator(".live-responses-table");
    expect(await response.count()).toBe(1);
    await opened.orderId.fill("abc");
    await operation.locator("button.execute").click();
    const mistake = operation.getByText("Value must be an integer");
    await expect.poll(() => mistake.isVisible()).toBe(true);
    expect(await response.count()).toBe(0);
  });

  test("is readable in light and dark, on a laptop and a phone", async () => {
    const response = opened.operation("listOrders").locator(".highlight-code").first();
    const text = response.locator("pre");
    const copy = response.locator(".copy-to-clipboard");
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 375]) {
        await opened.page.emulateMedia({ colorScheme });
        await opened.page.setViewportSize({ width, height: 1170 });
        const dark = opened.page.locator("html.dark-mode");
        expect(await dark.count()).toBe(colorScheme === "dark" ? 1 : 0);
        expect(await opened.page.evaluate(unreadable)).toEqual([]);
        expect(await opened.page.evaluate("document.documentElement.scrollWidth")).toBe(
          width,
        );
        expect(await copy.count()).toBe(1);
        const { y = 0, height = 0 } = (await text.boundingBox()) ?? {};
        expect((await copy.boundingBox())?.y).toBeGreaterThanOrEqual(y + height);
      }
    }
  });

  test("has no button that only seems to cancel an order", async () => {
    const cancels = opened.page.getByRole("button", { name: "Cancel", exact: true });
    expect(await cancels.count()).toBe(0);
  });

  test("links to the changelog", async () => {
    const link = opened.page.locator(".info a", { hasText: "changelog" });
    const address = new URL(`${await link.getAttribute("href")}`, opened.page.url());
    expect(await (await fetch(address)).text()).toMatch(/^# Changelog\n/);
  });

  test("requests nothing from other origins, and logs only the rejected cancellation", () => {
    expect(opened.otherOrigins).toEqual([]);
    expect(opened.errors).toEqual([expect.stringContaining("409 (Conflict)")]);
  });

  test("sends this start's key after a restart, or one that is filled in, and says when the service is down", async () => {
    const { page } = opened;
    const earlier = { basePath: "/v1", apiKey: stack.unknownKey };
    await page.route("**/settings.json", (route) => route.fulfill({ json: earlier }), {
      times: 1,
    });
    await page.reload();
    await opened.unfold("listOrders");
    for (const _time of ["first", "second"])
      expect((await opened.execute("listOrders")).status).toBe("200");
    // The colour scheme is still dark.
    expect(await page.locator("html.dark-mode").count()).toBe(1);
    await page.locator(".scheme-container .authorize").click();
    await page.getByText("Logout").click();
    await page.locator(".auth-container input").fill(stack.unknownKey);
    await page.locator(".auth-container .authorize").click();
    await page.locator(".btn-done").click();
    expect((await opened.execute("listOrders")).status).toBe("401");
    await page.context().setOffline(true);
    await opened.operation("listOrders").locator("button.execute").click();
    const error = opened.operation("listOrders").locator(".live-responses-table");
    await expect
      .poll(() => error.innerText())
      .toContain("has stopped. Start it again with infra/petstore start.");
    await page.context().setOffline(false);
  });
});
