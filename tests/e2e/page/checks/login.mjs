// Users: who must log in, who may only read; and a server that goes away and comes back.

import { openPage, report, shot, shows, textOf, until, visit } from "./harness.mjs";
import { fill } from "./data.mjs";

async function logIn(page, user, password) {
  await page.waitForSelector("#login-dialog[open]");
  for (const [name, value] of [["user", user], ["password", password]]) {
    await page.$eval(`#login-dialog input[name=${name}]`, (input) => { input.value = ""; });
    await page.type(`#login-dialog input[name=${name}]`, value);
  }
  await page.click("#login-dialog button[value=login]");
}

export async function restartChecks(browser, server) {
  const page = await openPage(browser, server);
  await visit(page, server);
  await shows("live before a restart", page, "#connection", /^Live$/);
  await server.kill();
  await shows("a lost connection is said, and of when the figures are", page, "#connection", /^Connection lost; figures are of \d\d:\d\d:\d\d/);
  await shot(page, "lost");
  await page.goto(`${server.base}`).catch(() => {});
  await server.start();
  const wire = server.wire();
  await fill(wire);
  wire.close();
  await page.goto(server.base);
  await shows("live after it", page, "#connection", /^Live$/);
  await server.kill();
  await shows("lost again", page, "#connection", /^Connection lost/);
  await server.start();
  await shows("it comes back by itself", page, "#connection", /^Live$/);
  await shows("with figures of the new server", page, ".tiles li:nth-child(5)", /Keys\s+0/);
  report.equal("and says what had happened in no other way than the browser itself",
    page.wrong.filter((text) => !/Failed to load resource|ERR_/.test(text)), []);
  await page.browserContext().close();
}

export async function loginChecks(browser, server) {
  const wire = server.wire();
  await fill(wire);
  await wire.call("ACL", "SETUSER", "default", "resetpass", ">correct horse");
  const page = await openPage(browser, server);
  await visit(page, server);
  await page.waitForSelector("#login-dialog[open]");
  report.check("a server with a password asks for a login", true);
  await shows("and says so", page, "#connection", /^Log in/);
  await logIn(page, "default", "wrong");
  await shows("a wrong password is refused", page, "#login-dialog .error", /^The user or the password is wrong\.$/);
  await logIn(page, "default", "correct horse");
  await shows("the right one lets in", page, "#connection", /^Live$/);
  await page.reload();
  await shows("a load of the tab later, too", page, "#connection", /^Live$/);
  report.equal("this user may write", await page.$eval("#rights", (node) => node.hidden), true);
  await readOnly(page, server);
  report.equal("nothing but refusals in the browser's console",
    page.wrong.filter((text) => !/Failed to load resource.*40[13]/.test(text)), []);
  await page.browserContext().close();
  await wire.call("ACL", "SETUSER", "default", "nopass");
  wire.close();
}

async function readOnly(page, server) {
  await page.click("#login");
  await logIn(page, "reader", "secret");
  await shows("a user without write rights is said to be read-only", page, "#rights", /^Read-only$/);
  await shows("who it is, too", page, "#login", /^User reader$/);
  await page.goto(`${server.base}#lookup?key=t%3Auser%3A7`);
  await shows("such a user sees what a key holds", page, "#limit-state", /FIXED\s+10 minutes\s+5/);
  report.check("but all that changes it is disabled", await until(() => page.evaluate(() => {
    const buttons = [...document.querySelectorAll("#view-lookup .actions button")];
    return buttons.length >= 3 && buttons.every((button) => button.disabled);
  })));
  await shows("and why", page, "#about-key", /Read-only: NOPERM/);
  await shot(page, "read-only", true);
  await page.goto(`${server.base}#console`);
  await page.type("#view-console input", "SET a b");
  await page.keyboard.press("Enter");
  await shows("a write in the console is refused plainly", page, "#replies article", /NOPERM/);
  await page.goto(`${server.base}#limits`);
  await shows("such a user sees who is denied", page, "#denials", /user:7/);
  await page.click("#login");
  await page.waitForSelector("#login-dialog[open]");
  await page.click("#login-dialog button[value=forget]");
  report.check("after the logout the login is asked for again", await until(async () => /^Log in/.test(await textOf(page, "#connection"))));
}
