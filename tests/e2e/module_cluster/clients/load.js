// As load.py, with ioredis.
"use strict";
const { Cluster } = require("ioredis");

const [port, , limit, keys] = process.argv.slice(2, 6).map(Number);
const prefix = process.argv[6];
const RULES = { fixed: ["FIXED", limit, "10h"], sliding: ["SLIDING", limit, "10h"], policy: ["POLICY", "hundred"] };
const choose = (list) => list[Math.floor(Math.random() * list.length)];

function wordsOf() {
  const number = Math.floor(Math.random() * keys);
  const kind = choose(Object.keys(RULES));
  const key = `${prefix}${kind}:{${number}}`;
  if (Math.random() >= 0.2) return [[key, ...RULES[kind]], [key]];
  const both = `${prefix}both:{${number}}`;
  return [[key, ...RULES[kind], "AND", both, "FIXED", 100 * limit, "10h"], [key, both]];
}

async function main() {
  // Nothing is sent again by itself: what has no reply may have been done.
  const cluster = new Cluster([{ host: "127.0.0.1", port }],
    { retryDelayOnFailover: 0, enableOfflineQueue: true, redisOptions: { commandTimeout: 5000 } });
  cluster.on("error", () => {});
  const result = { taken: {}, unknown: {}, calls: 0 };
  const add = (counts, names) => names.forEach((name) => { counts[name] = (counts[name] || 0) + 1; });
  let ended = false;
  process.stdin.on("data", () => { ended = true; });
  await cluster.ping();
  console.log("ready");
  while (!ended) {
    const [words, names] = wordsOf();
    ++result.calls;
    try {
      const reply = await cluster.call("LIMIT.TAKE", ...words);
      if (reply[0] === 1) add(result.taken, names);
    } catch (error) {
      if (error.name !== "ReplyError" && error.name !== "ClusterAllFailedError") add(result.unknown, names);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}

main();
