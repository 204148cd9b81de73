// What the page says while the server refuses commands: on every view, and why.

import { execFileSync } from "node:child_process";
import { openPage, report, shot, shows, until, visit } from "./harness.mjs";
import { quiet } from "./views.mjs";

const gone = (page) => until(() => page.$eval("#banner", (node) => node.hidden));

export async function troubles(browser, server) {
  const page = await openPage(browser, server);
  await visit(page, server);
  await shows("the connection is live", page, "#connection", /^Live$/);
  report.check("nothing is refused", await page.$eval("#banner", (node) => node.hidden));
  const wire = server.wire();
  await outOfMemory(page, server, wire);
  await paused(page, wire);
  await busy(page, server, wire);
  await noDisk(page, server, wire);
  wire.close();
  await quiet(page, "troubles");
  await clockJump(browser, server);
}

// A server whose clock was set back a minute ago, as its INFO tells it.
async function clockJump(browser, server) {
  const page = await openPage(browser, server);
  const rows = `clock_jumps:1\r\nclock_last_jump_ms:-7200000\r\nclock_last_jump_at_ms:${Date.now() - 60000}\r\n`;
  await page.setRequestInterception(true);
  page.on("request", (request) => (request.postData() === '[["INFO","server"]]'
    ? request.respond({ contentType: "application/json", body: JSON.stringify([rows]) }) : request.continue()));
  await visit(page, server);
  await shows("a jump of the clock is told for an hour", page, "#banner", /^The server's clock was set back by 2 hours at [\d: -]+, 1 minute/);
  await quiet(page, "clock");
}

async function outOfMemory(page, server, wire) {
  await wire.call("CONFIG", "SET", "maxmemory", "1");
  await wire.call("SET", "a", "1").catch(() => {});
  await shows("a banner says that memory is at its limit", page, "#banner", /Commands that take memory are refused[\s\S]*OOM command not allowed/);
  await shows("and the state, too", page, "#connection", /^Live, but commands are refused$/);
  for (const view of ["limits", "lookup", "console"]) {
    await page.evaluate((name) => { location.hash = name; }, view);
    report.check(`it is seen in ${view}`, await until(() => page.$eval("#banner", (node) => node.checkVisibility())));
  }
  await visit(page, server, "#overview");
  await wire.call("CONFIG", "SET", "maxmemory", "0");
  await wire.call("PING");
  report.check("it goes when writes are taken again", await gone(page));
}

async function paused(page, wire) {
  await wire.call("CLIENT", "PAUSE", "60000", "WRITE");
  await shows("CLIENT PAUSE is told, with its end", page, "#banner", /^Writes wait until \d\d:\d\d:\d\d: CLIENT PAUSE/);
  await wire.call("CLIENT", "UNPAUSE");
  report.check("it goes with UNPAUSE", await gone(page));
}

async function busy(page, server, wire) {
  await wire.call("CONFIG", "SET", "busy-reply-threshold", "100");
  const script = server.wire();
  const ended = script.call("EVAL", "while true do end", "0").catch(() => {});
  await shows("a script that runs without an end", page, "#banner", /a script runs without an end[\s\S]*BUSY/);
  await wire.call("SCRIPT", "KILL");
  await ended;
  script.close();
  report.check("it goes when the script is ended", await gone(page));
}

// A disk that is full: no file may grow.
async function noDisk(page, server, wire) {
  await wire.call("CONFIG", "SET", "appendonly", "yes");
  await shows("how far the log is on disk", page, "#persistence",
    /Log\s+on, [\s\S]*Synced to disk\s+each second \(appendfsync everysec\)\s+Last sync[\s\S]*Not yet on disk\s+nothing\s+Delayed syncs\s+none/);
  const limit = (size) => execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${size}:unlimited`]);
  limit(1);
  const writer = server.wire();
  await writer.call("SET", "unlogged", "1").catch(() => {});
  writer.close();
  await shows("a disk that takes no more", page, "#banner", /Writes are refused: the data cannot be written to the disk[\s\S]*MISCONF Errors writing/);
  await shot(page, "refused");
  limit("unlimited");
  report.check("it goes when the disk takes it again", await gone(page));
  await wire.call("CONFIG", "SET", "appendonly", "no");
  await wire.call("DEL", "unlogged");
}
