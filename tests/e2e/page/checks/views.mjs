// What each view shows, and that it is right.

import { ODD_KEY, XSS_KEY, load } from "./data.mjs";
import { openPage, report, shot, shows, textOf, until, visit } from "./harness.mjs";

const CLOCK = "\\d\\d:\\d\\d:\\d\\d";

// An instant that is to come: before midnight it may be on the next day, and is shown with its date.
const SOON = `(\\d{4}-\\d\\d-\\d\\d )?${CLOCK}`;

// Nothing was reported in the tab, and it asked nobody else.
export async function quiet(page, where) {
  report.equal(`${where}: no errors in the browser's console`, page.wrong, []);
  report.equal(`${where}: nothing is loaded from elsewhere`, page.elsewhere, []);
  await page.browserContext().close();
}

export async function transport(_browser, server) {
  const first = await fetch(server.base);
  const policy = first.headers.get("content-security-policy");
  report.check("the page comes with a policy that allows its own files only",
    first.status === 200 && /default-src 'self'/.test(policy) && !/unsafe/.test(policy), policy);
  report.equal("it comes compressed", first.headers.get("content-encoding"), "gzip");
  const again = await fetch(server.base, { headers: { "If-None-Match": first.headers.get("etag") } });
  report.equal("it is not sent again to whoever has it", [again.status, await again.text()], [304, ""]);
  const other = await fetch(server.base, { headers: { "If-None-Match": '"other"' } });
  report.equal("it is sent to whoever has another one", other.status, 200);
  report.equal("there is no other file", (await fetch(`${server.base}page/..%2findex.html`)).status, 404);
  const page = await (await fetch(server.base)).text();
  const missing = [];
  for (const [, path] of page.matchAll(/(?:href|src)="(page\/[^"]+)"/g)) {
    if ((await fetch(`${server.base}${path}`)).status !== 200) missing.push(path);
  }
  report.equal("every file that it names is there", missing, []);
}

export async function overview(browser, server) {
  const page = await openPage(browser, server);
  await visit(page, server);
  await shows("the connection is said to be live", page, "#connection", /^Live$/);
  const stop = load(server);
  await shows("requests a second rise under load", page, ".tiles li:nth-child(1)", /Requests\s+[1-9][\d,]{2,}\s+a second, over/);
  await shows("denials a second with their share, and the span", page, ".tiles li:nth-child(2)",
    new RegExp(`Denied\\s+[1-9][\\d,.]*\\s+(4\\d|5\\d)(\\.\\d)?% of decisions, a second, over \\d+ seconds?, to ${CLOCK}`));
  await shows("the p99 of a turn", page, ".tiles li:nth-child(3)", /Turn, p99\s+[\d.,]+ (µs|ms)/);
  await shows("keys by type", page, "#types", /limit\s+6[\s\S]*hits\s+1/);
  await shows("the state of persistence", page, "#persistence", /off: only snapshots[\s\S]*Last write\s+ok/);
  await shows("a chart says its span", page, "#rates .span", new RegExp(`^the last [\\da-z ]+, to ${CLOCK}$`));
  const drawn = await until(() => page.evaluate(() => [...document.querySelectorAll("#view-overview canvas")].filter((canvas) =>
    canvas.width > 0 && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v > 0)).length >= 3));
  report.check("three charts are drawn", drawn);
  await until(() => page.$eval("#rates .span", (node) => /1\d seconds|minute/.test(node.textContent)));
  await shot(page, "overview");
  await shows("what the longest turn did", page, "#longest-turn", /It took\s+[\d.,]+ (µs|ms)[\s\S]*Longest part\s+[a-z]+: [\s\S]*Slowest command\s+\S/);
  const wire = server.wire();
  await wire.call("INCR", "a", "b").catch(() => {});
  wire.close();
  await shows("errors by their kind", page, "#errors", /ERR\s+[\d.]+\s+[1-9]/);
  await stop();
  await axes(page);
  await past(browser, server);
  await shows("requests fall when it ends", page, ".tiles li:nth-child(1)", /Requests\s+\d\d?(\.\d)?\s/);
  await resets(page, server);
  await quiet(page, "overview");
}

// The labels of the value axis of a chart.
const labels = (page, chart) => page.$$eval(`#${chart} .dygraph-axis-label-y`, (all) => all.map((label) => label.textContent));

async function axes(page) {
  const turns = await labels(page, "turns");
  report.check("the axis of durations has powers of ten", turns.length >= 2 && turns.every((text) => /^(1|10|100) (µs|ms|s)$/.test(text)), turns);
  const memory = await labels(page, "memory");
  report.check("the axis of memory has round sizes", memory.length >= 2 && memory.every((text) => /^(0 B|[125]0{0,2} [KM]iB|\d+ [KM]iB)$/.test(text)), memory);
}

// A tab that is opened later has what was before it.
async function past(browser, server) {
  const page = await openPage(browser, server);
  const opened = Date.now();
  await visit(page, server);
  await until(() => page.$("#rates canvas"));
  const text = await textOf(page, "#rates .span"), seconds = Number(/^the last (\d+) seconds/.exec(text)?.[1] ?? 60);
  report.check("the charts begin before the tab was opened", seconds * 1000 > Date.now() - opened + 5000, text);
  await page.select("#view-overview select[name=range]", "coarse");
  // By the time at which the chart ends: on a slow machine a sample may come a second late.
  let before = Infinity;
  const growsByTen = async () => {
    const [, hours, minutes, seconds] = /, to (\d+):(\d+):(\d+)/.exec(await textOf(page, "#rates .span")) ?? [];
    const end = hours * 3600 + minutes * 60 + Number(seconds);
    const grown = end - before;
    before = end;
    return grown >= 9;
  };
  report.check("the last hour, in steps of ten seconds", await until(growsByTen), await textOf(page, "#rates .span"));
  await quiet(page, "the past");
}

async function resets(page, server) {
  const since = () => page.$eval("#about .span", (node) => node.textContent.replace(/, at .*/, ""));
  const started = await since();
  const wire = server.wire();
  await wire.call("CONFIG", "RESETSTAT");
  wire.close();
  report.check("after CONFIG RESETSTAT counts are said to be since then", await until(async () => await since() !== started),
    `still ${started}`);
}

// Long and odd names: none leads to another key.
async function longNames(page, server) {
  const rows = await page.$$eval("#denials tbody tr", (all) => all.map((row) => [row.querySelector("a.key")?.hash ?? null, row.innerText]));
  const of = (pattern) => rows.find(([, text]) => pattern.test(text)) ?? [];
  report.equal("a key of which only the beginning is known is no link", of(/^long:k+\.\.\. \(31 more bytes\)/)[0], null);
  report.equal("a short key is a link, without the policy whose name is not whole", of(/^short\s/)[0], "#lookup?key=t%3Ashort");
  await shows("a policy that is counted with others has no numbers", page, "#policies", /shared-s+\s+FIXED 1 1h\s+–\s+–\s+–\s+–/);
  report.check("and it is said why", await page.$eval("#policies [title]", (node) => /Counted with others/.test(node.title)));
  const odd = of(/^"a\\xff/)[0];
  await visit(page, server, odd);
  await shows("a key of odd bytes leads to itself", page, "#limit-state", /FIXED\s+1 hour\s+1/);
  await visit(page, server, "#limits");
}

export async function limits(browser, server) {
  const page = await openPage(browser, server);
  await visit(page, server, "#limits");
  await shows("a policy with its rules, allowed and denied", page, "#policies", /login\s+FIXED 5 10m\s+5\s+4\s+44\.4%/);
  await shows("its counts are said to be since the start", page, "#policies .span", new RegExp(`^Counts since ${CLOCK}, at ${CLOCK}$`));
  await shows("who was denied most, by which rule, and in which span", page, "#denials",
    /in the last 5 minutes, at [\s\S]*user:7\s+0\s+login\s+4/);
  await shows("which rule of a policy denied, and in which database", page, "#denials", /elsewhere\s+3\s+two rule 2 of 2: SLIDING 1 10m\s+2/);
  report.equal("its key leads to that database", await page.$$eval("#denials a.key", (all) => all.find((a) => a.textContent === "elsewhere").hash),
    "#lookup?key=t%3Aelsewhere&db=3&policy=t%3Atwo");
  report.check("denials come before policies", await page.evaluate(() =>
    Boolean(document.getElementById("denials").compareDocumentPosition(document.getElementById("policies")) & Node.DOCUMENT_POSITION_FOLLOWING)));
  await shows("an inline rule that denied", page, "#denials", /"a\\xff\\x00\\x0az"\s+0\s+FIXED 1 (1h|3600s|60m)\s+3/);
  await shows("markup in keys and policies is text", page, "#denials", /<img src=x onerror="alert\(1\)">\s+0\s+<b onmouseover/);
  report.equal("no element is made of it", await page.$$eval("main img, main b[onmouseover], main script", (all) => all.length), 0);
  await shot(page, "limits");
  await longNames(page, server);
  await page.select("#denials select[name=window]", "1h");
  await shows("another span", page, "#denials .span", /^in the last hour, at/);
  await page.evaluate(() => [...document.querySelectorAll("#denials select[name=policy] option")]
    .find((option) => option.textContent.includes("login")).selected = true);
  await page.$eval("#denials select[name=policy]", (node) => node.dispatchEvent(new Event("change")));
  report.check("only what one policy denied", await until(async () =>
    !(await textOf(page, "#denials table")).includes("<img") && (await textOf(page, "#denials table")).includes("user:7")));
  await hotKeys(page, server);
  await page.click("#denials a.key");
  await shows("a denied key leads to what it holds", page, "#about-key", /user:7[\s\S]*limit/);
  await quiet(page, "limits");
}

async function hotKeys(page, server) {
  await shows("hot keys are tracked when one asks", page, "#hotkeys", /while they are tracked/);
  await page.click("#hotkeys button");
  await shows("it is said since when", page, "#hotkeys .span", new RegExp(`^tracked since ${CLOCK}, at ${CLOCK}$`));
  const wire = server.wire();
  for (let i = 0; i < 50; i += 1) await wire.call("GET", "greeting");
  wire.close();
  await shows("a hot key with its time and bytes", page, "#hotkeys", /greeting\s+[\d.,]+ µs\s+[\d.,]+ (B|KiB)/);
}

async function lookUp(page, key) {
  await page.$eval("#view-lookup input[name=key]", (input) => { input.value = ""; });
  await page.type("#view-lookup input[name=key]", key);
  await page.click("#view-lookup form[role=search] button");
}

export async function lookUps(browser, server) {
  const page = await openPage(browser, server);
  await visit(page, server, "#lookup");
  await lookUp(page, "user:7");
  await shows("what a limit's key holds, and of which span", page, "#limit-state",
    new RegExp(`FIXED\\s+10 minutes\\s+5\\s+in the 10 minutes to ${SOON}`));
  await shows("when its policy allows again", page, "#limit-next", new RegExp(`Policy login\\s+Denied by rule 1[\\s\\S]*allowed again ${SOON}, in \\d`));
  await page.type("#limit-next input[name=rules]", "SLIDING 3 1m");
  await page.click("#limit-next button");
  await shows("any rules can be asked", page, "#limit-next", /Allowed: 2 of 3 left/);
  await shot(page, "lookup-limit", true);
  await lookUp(page, "said:hello");
  await shows("hits, in which span, and when", page, "#hits .span", new RegExp(`^37 in the last 24 hours, at ${CLOCK}$`));
  await shows("hits of shorter spans", page, "#hits", new RegExp(`In the last hour\\s+2, at ${CLOCK}`));
  report.check("their course is a chart", await until(() => page.$("#hits-course canvas")));
  await shot(page, "lookup-hits", true);
  await lookUp(page, "shop");
  await shows("an audience: online, peak and users of today", page, "#active",
    /Online\s+2 at [\d:]+, seen in the last 5 minutes[\s\S]*Peak today\s+2, at [\s\S]*Active today\s+2 since midnight[\s\S]*Distinct in 30 days\s+2[2-4]/);
  report.check("users by day are a chart", await until(() => page.$("#active-days canvas")));
  await shot(page, "lookup-audience", true);
  await lookUp(page, "book");
  await shows("a quota book", page, "#quota", /Limits\s+2\s+Users\s+1\s+Purchases kept\s+2/);
  await page.type("#quota-user input", "ann");
  await page.click("#quota-user button");
  await shows("what a user may still buy, and what they bought", page, "#quota-user", /4711\s+any \(0\)\s+30\s+30 days\s+15\s+15\s+[^\n]*in (29|30) days[\s\S]*order-1\s+4711\s+1\s+10/);
  await lookUp(page, "colours");
  await shows("a hash", page, "#value", /2 fields[\s\S]*sky\s+blue/);
  await lookUp(page, "greeting");
  await shows("a string with markup is text", page, "#value", /hello <script>alert\(3\)<\/script>/);
  await lookUp(page, '"a\\xff\\x00\\nz"');
  await shows("a key of odd bytes", page, "#limit-state", /FIXED\s+1 hour\s+1/);
  await lookUp(page, XSS_KEY);
  await shows("a key of markup", page, "#about-key h3", /^<img src=x onerror="alert\(1\)">$/);
  await lookUp(page, "nobody");
  await shows("a key that is not there", page, "#about-key", /There is no such key/);
  await shows("nothing denies it", page, "#limit-next", /Each of the \d+ stored policies allows it/);
  await denyAll(page, server);
  await keyList(page);
  await deletes(page, server);
  await quiet(page, "look up");
}

// A policy may deny a key that there is not.
async function denyAll(page, server) {
  const wire = server.wire();
  await wire.call("POLICY.SET", "closed", "DENY");
  await lookUp(page, "nobody");
  await shows("a policy that denies it all the same", page, "#limit-next", /Policy closed\s+Denied by rule 1, DENY[\s\S]*other polic(ies allow|y allows) it/);
  await lookUp(page, "user:7");
  await shows("and a key that there is", page, "#limit-next", /Policy closed\s+Denied by rule 1[\s\S]*Policy login\s+Denied by rule 1, FIXED 5 10m/);
  await wire.call("POLICY.DEL", "closed");
  await wire.call("LIMIT.TAKE", "cal", "CALENDAR", "5", "day", "TZ", "Europe/Berlin");
  await wire.call("POLICY.SET", "daily", "CALENDAR", "9", "day", "TZ", "Europe/Berlin");
  await lookUp(page, "cal");
  await shows("the zone of a calendar", page, "#limit-state", /CALENDAR\s+day, Europe\/Berlin\s+1/);
  await wire.call("POLICY.DEL", "daily");
  await wire.call("DEL", "cal");
  wire.close();
}

async function keyList(page) {
  await page.click("details.keys summary");
  await page.$eval("details.keys input[name=pattern]", (input) => { input.value = ""; });
  await page.type("details.keys input[name=pattern]", "s*");
  await page.click("details.keys button");
  await shows("keys by a pattern", page, "details.keys", /\d keys, in database 0, at[\s\S]*said:hello/);
  report.check("no others", !(await textOf(page, "details.keys ul")).includes("user:7"));
  await page.select("details.keys select[name=type]", "active");
  await page.click("details.keys button");
  await shows("of one type", page, "details.keys", /1 keys?, in database 0[\s\S]*shop/);
  await page.click("details.keys a.key");
  await shows("a key of the list is looked up", page, "#about-key h3", /^shop$/);
}

async function deletes(page, server) {
  await lookUp(page, '"a\\xff\\x00\\nz"');
  await page.waitForSelector("#limit-state .actions button:nth-child(2)");
  await page.click("#limit-state .actions button:nth-child(2)");
  await shows("a change is asked for, with its command", page, "#confirm-dialog pre", /^LIMIT\.RESET "a\\xff\\x00\\x?0?a?n?z"$/);
  await page.click("#confirm-dialog button[value=run]");
  await shows("it is done", page, "#about-key", /There is no such key/);
  const wire = server.wire();
  report.equal("by the server too", await wire.call("EXISTS", ODD_KEY), ":0\r\n");
  wire.close();
}

async function run(page, line) {
  await page.$eval("#view-console input", (input) => { input.value = ""; });
  await page.type("#view-console input", line);
  await page.keyboard.press("Enter");
}

async function rulesCompleted(page) {
  await page.type("#view-console input", "limit.peek user:7 sl");
  await shows("rules are completed", page, "#completions", /^SLIDING limit period/);
  await page.keyboard.press("Tab");
  report.equal("in their place", await page.$eval("#view-console input", (input) => input.value), "limit.peek user:7 SLIDING ");
  await page.type("#view-console input", "9 1m policy lo");
  await shows("and names of policies", page, "#completions", /^login/);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await shows("what they make runs", page, "#replies article:first-child", /limit\.peek user:7 SLIDING 9 1m policy login[\s\S]*allowed/);
}

export async function console_(browser, server) {
  const page = await openPage(browser, server);
  await visit(page, server, "#console");
  await page.type("#view-console input", "limit.t");
  await shows("a command is completed while it is typed", page, "#completions", /^LIMIT\.TAKE key rule \[rule …\]/);
  await page.keyboard.press("Tab");
  report.equal("Tab takes it", await page.$eval("#view-console input", (input) => input.value), "LIMIT.TAKE ");
  await shows("its syntax and what it does are shown", page, "#syntax", /^LIMIT\.TAKE key rule \[rule …\].*\[COST n\].*: Takes from every rule/);
  await page.type("#view-console input", "console:1 FIXED 3 1h");
  await shot(page, "console-typing");
  await page.keyboard.press("Enter");
  await shows("it is run, and its reply has names", page, "#replies article", /allowed[\s\S]*1[\s\S]*limit[\s\S]*3[\s\S]*remaining[\s\S]*2/);
  await rulesCompleted(page);
  await run(page, "LIMIT.TAKE console:1 FIXED x 1h");
  await shows("an error is shown plainly", page, "#replies article:first-child", /ERR limit must be an integer/);
  await run(page, 'SET odd "\\xff<i>"');
  await run(page, "GET odd");
  await shows("bytes come back as they were sent", page, "#replies article:first-child", /"\\xff<i>"/);
  await run(page, 'SET open "abc');
  await shows("a quote that is open is not sent", page, "#syntax", /quote is not closed/);
  await run(page, "FLUSHALL");
  await shows("what empties the server asks first", page, "#confirm-dialog pre", /^FLUSHALL$/);
  await shows("and says how many keys go", page, "#confirm-note", /^It deletes \d+ keys in 2 databases\.$/);
  await page.click("#confirm-dialog button[value=cancel]");
  await page.$eval("#view-console input", (input) => { input.value = ""; input.focus(); });
  await page.keyboard.press("ArrowUp");
  report.equal("the arrow brings the last line back", await page.$eval("#view-console input", (input) => input.value), "GET odd");
  await shot(page, "console");
  report.check("the server still has its keys", (await textOf(page, "#replies")).includes("remaining"));
  const wire = server.wire();
  report.check("none was deleted", Number((await wire.call("DBSIZE")).slice(1)) > 5);
  wire.close();
  await quiet(page, "console");
}

