// Keyboard, colours, a phone's width, and what axe-core finds.

import axe from "axe-core";
import { openPage, report, shot, shows, until, visit } from "./harness.mjs";
import { quiet } from "./views.mjs";

const VIEWS = ["#overview", "#limits", "#lookup?key=t%3Auser%3A7", "#lookup?key=t%3Ashop", "#lookup?key=t%3Abook", "#console?run=LIMIT"];

const ready = (page) => until(() => page.evaluate(() => document.getElementById("connection").dataset.state === "live"
  && [...document.querySelectorAll("[aria-busy=true]")].every((busy) => busy.offsetParent === null)));

// Relative luminance of the colour that a place has, 0 to 1.
const lightness = (page) => page.evaluate(() => {
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
});

export async function byKeyboard(browser, server) {
  const page = await openPage(browser, server);
  await visit(page, server, "#overview");
  await ready(page);
  await page.keyboard.press("Tab");
  report.equal("the first Tab leads to the skip link", await page.evaluate(() => document.activeElement.className), "skip");
  for (let i = 0; i < 4; i += 1) await page.keyboard.press("Tab");
  report.equal("then through the views", await page.evaluate(() => document.activeElement.textContent), "Console");
  report.check("what has the focus is outlined", await page.evaluate(() =>
    getComputedStyle(document.activeElement).outlineStyle === "solid" && parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2));
  await page.keyboard.press("Enter");
  await page.waitForSelector("#view-console:not([hidden])");
  report.equal("a view puts the focus where one types", await page.evaluate(() => document.activeElement.name), "command");
  await page.keyboard.type("hits.c");
  await until(() => page.$("#completions li"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  report.equal("the arrows choose a completion", await page.evaluate(() => document.activeElement.value), "HITS.COUNT ");
  await page.keyboard.type("said:hello");
  await page.keyboard.press("Enter");
  await shows("and Enter runs it", page, "#replies article", /37/);
  await quiet(page, "keyboard");
}

export async function inDark(browser, server) {
  const page = await openPage(browser, server);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await visit(page, server);
  await ready(page);
  report.check("light where the system is", await lightness(page) > 0.8);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  report.check("dark where the system is", await until(async () => await lightness(page) < 0.2));
  await until(() => page.$("#rates canvas"));
  await shot(page, "overview-dark");
  await page.select("#theme", "light");
  report.check("light where it is chosen", await until(async () => await lightness(page) > 0.8));
  await page.reload();
  report.check("the choice lasts", await until(async () => await lightness(page) > 0.8));
  await page.select("#theme", "auto");
  report.check("as the system again", await until(async () => await lightness(page) < 0.2));
  await quiet(page, "dark");
}

export async function atPhoneWidth(browser, server) {
  const page = await openPage(browser, server);
  await page.setViewport({ width: 360, height: 740, isMobile: true, hasTouch: true });
  const wide = [];
  for (const view of VIEWS) {
    await page.goto("about:blank");
    page.elsewhere.length = 0;
    await visit(page, server, view);
    await ready(page);
    const over = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    if (over[0] > 360 || over[1] > 360) wide.push([view, ...over]);
    await shot(page, `phone${view.replaceAll(/[^a-z0-9]+/gi, "-")}`, true);
  }
  report.equal("no view is wider than a phone of 360 pixels", wide, []);
  await visit(page, server, "#lookup?key=t%3Ashop");
  await ready(page);
  await until(() => page.$("#active-days caption"));
  report.equal("a caption is as wide as its table", await page.$$eval("#active-days caption", (all) => all.filter((caption) =>
    caption.getBoundingClientRect().width < caption.parentElement.getBoundingClientRect().width * 0.9).length), 0);
  await quiet(page, "phone");
}

// The page's policy allows no script but its own, so axe is put in by the browser's own tools.
async function violations(page) {
  await page.evaluate(`(() => { ${axe.source} })()`);
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return found.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
}

async function withoutBarriers(browser, server, scheme) {
  const page = await openPage(browser, server);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  for (const view of VIEWS) {
    await page.goto("about:blank");
    page.elsewhere.length = 0;
    await visit(page, server, view);
    await ready(page);
    report.equal(`axe finds nothing in ${view}, ${scheme}`, await violations(page), []);
  }
  await page.click("#login");
  report.equal(`axe finds nothing in the login, ${scheme}`, await violations(page), []);
  await quiet(page, `axe, ${scheme}`);
}

export const withoutBarriersInLight = (browser, server) => withoutBarriers(browser, server, "light");
export const withoutBarriersInDark = (browser, server) => withoutBarriers(browser, server, "dark");
