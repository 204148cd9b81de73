// Counts on whichever server the Sentinels call the primary. Usage: ioredis.js name port…
"use strict";
const Redis = require("ioredis");

const [name, ...ports] = process.argv.slice(2);
const client = new Redis({
  name,
  sentinels: ports.map((port) => ({ host: "127.0.0.1", port: Number(port) })),
  commandTimeout: 1000,
});
client.on("error", (error) => console.log("failed", error.message));

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

(async () => {
  for (;;) {
    try {
      console.log("counted", await client.incr("ioredis"));
    } catch (error) {
      console.log("failed", error.message);
      await pause(100);
    }
    await pause(10);
  }
})();
