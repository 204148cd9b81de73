// Runs every check against one server and one browser; ends with "N passed, N failed".

import { atPhoneWidth, byKeyboard, inDark, withoutBarriersInDark, withoutBarriersInLight } from "./access.mjs";
import { fill } from "./data.mjs";
import { Server, openBrowser, report } from "./harness.mjs";
import { loginChecks, restartChecks } from "./login.mjs";
import { troubles } from "./troubles.mjs";
import { console_, limits, lookUps, overview, transport } from "./views.mjs";

const CHECKS = [transport, overview, limits, lookUps, console_, byKeyboard, inDark, atPhoneWidth, withoutBarriersInLight,
  withoutBarriersInDark, restartChecks, loginChecks, troubles];

const server = new Server();

// Each check has a browser of its own. One that dies under a check says nothing of the page: then the check
// is run once more, in another.
async function run(check, again = false) {
  const browser = await openBrowser();
  try {
    await check(browser, server);
  } catch (error) {
    if (!again && !browser.connected) {
      console.log(`        the browser ended in ${check.name}: ${error.message}`);
      return run(check, true);
    }
    report.check(`${check.name} comes to its end`, false, error.stack);
  } finally {
    await browser.close().catch(() => {});
  }
}

try {
  await server.start();
  const wire = server.wire();
  await fill(wire);
  wire.close();
  for (const check of CHECKS) await run(check);
} finally {
  await server.close();
}
console.log(`${report.passed} passed, ${report.failed} failed`);
process.exitCode = report.failed > 0 || report.passed === 0 ? 1 : 0;
