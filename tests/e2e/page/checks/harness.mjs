// What the checks share: a report, a server of their own, and a browser.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

export const WAIT_MS = 30000;

export const report = {
  passed: 0, failed: 0,
  check(what, right, detail = "") {
    if (right) this.passed += 1;
    else this.failed += 1;
    console.log(`${right ? "ok     " : "FAILED "} ${what}${right || detail === "" ? "" : `\n        ${detail}`}`);
    return right;
  },
  equal(what, actual, expected) {
    return this.check(what, JSON.stringify(actual) === JSON.stringify(expected),
      `expected ${JSON.stringify(expected)}\n        but got  ${JSON.stringify(actual)}`);
  },
};

export const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// Asks until it is true, or the time is over.
export async function until(ask) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const answer = await ask();
    if (answer || Date.now() > end) return answer;
    await sleep(50);
  }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

// One connection that speaks RESP2. Replies are only what a check needs: a line, or a number of bytes.
class Wire {
  #socket;
  #waiting = [];
  #bytes = Buffer.alloc(0);

  constructor(port) {
    this.#socket = createConnection(port, "127.0.0.1");
    this.#socket.on("data", (data) => { this.#bytes = Buffer.concat([this.#bytes, data]); this.#take(); });
    this.#socket.on("error", () => this.#end());
    this.#socket.on("close", () => this.#end());
  }
  #end() {
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("the connection is closed"));
  }
  // The first line of a reply, and where the whole reply ends; null if it is not whole.
  #size(at) {
    const end = this.#bytes.indexOf("\r\n", at);
    if (end < 0) return null;
    const line = this.#bytes.toString("latin1", at, end), count = Number(line.slice(1));
    let next = end + 2;
    if (line[0] === "$" && count >= 0) next += count + 2;
    for (let i = 0; line[0] === "*" && i < count; i += 1) {
      const item = this.#size(next);
      if (item === null) return null;
      next = item;
    }
    return next <= this.#bytes.length ? next : null;
  }
  #take() {
    for (let next = this.#size(0); this.#waiting.length > 0 && next !== null; next = this.#size(0)) {
      const text = this.#bytes.toString("utf8", 0, next);
      this.#bytes = this.#bytes.subarray(next);
      const { resolve, reject } = this.#waiting.shift();
      if (text.startsWith("-")) reject(new Error(text.trim()));
      else resolve(text);
    }
  }
  // Words are strings or Buffers.
  call(...words) {
    const parts = [Buffer.from(`*${words.length}\r\n`)];
    for (const word of words) {
      const bytes = Buffer.isBuffer(word) ? word : Buffer.from(String(word));
      parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n"));
    }
    this.#socket.write(Buffer.concat(parts));
    return new Promise((resolve, reject) => { this.#waiting.push({ resolve, reject }); });
  }
  close() {
    this.#socket.destroy();
  }
}

export class Server {
  #directory = mkdtempSync(join(tmpdir(), "page-"));
  #process = null;

  async start() {
    this.port ??= await freePort();
    this.httpPort ??= await freePort();
    this.base = `http://127.0.0.1:${this.httpPort}/`;
    this.#process = spawn(process.env.TALLYD, ["--port", this.port, "--http-port", this.httpPort, "--bind", "127.0.0.1",
      "--dir", this.#directory, "--save", "", "--appendonly", "no"].map(String), { stdio: ["ignore", "ignore", "inherit"] });
    const serves = await until(async () => {
      const wire = this.wire();
      try {
        return (await wire.call("PING")).startsWith("+PONG");
      } catch {
        return false;
      } finally {
        wire.close();
      }
    });
    if (!serves) throw new Error("the server does not serve");
  }
  wire() {
    return new Wire(this.port);
  }
  get pid() {
    return this.#process.pid;
  }
  kill() {
    const ended = new Promise((resolve) => { this.#process.once("exit", resolve); });
    this.#process.kill("SIGKILL");
    return ended;
  }
  async close() {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export async function openBrowser() {
  // As root there is no sandbox; the pages are the server's own.
  return puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en"],
    env: { ...process.env, TZ: "UTC" } });
}

// A tab that notes what goes wrong in it.
export async function openPage(browser, server) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const wrong = [], elsewhere = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => { if (["error", "warn"].includes(message.type())) wrong.push(message.text()); });
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(server.base)) elsewhere.push(request.url()); });
  page.setDefaultTimeout(WAIT_MS);
  await page.setViewport({ width: 1280, height: 860 });
  return Object.assign(page, { wrong, elsewhere });
}

export async function visit(page, server, hash = "") {
  await page.goto(`${server.base}${hash}`);
}

export const textOf = (page, selector) => page.$eval(selector, (node) => node.innerText).catch(() => "");

// Whether the text of a place comes to match; says what it is where it does not.
export async function shows(what, page, selector, pattern) {
  let text = "";
  const right = await until(async () => { text = await textOf(page, selector); return pattern.test(text); });
  return report.check(what, right, `${selector} says: ${text}`);
}

export function shot(page, name, fullPage = false) {
  return page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage });
}
