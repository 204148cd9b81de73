// express-rate-limit with rate-limit-redis, over node-redis, ioredis and iovalkey, through a restart
// of the server: the scripts are gone then (NOSCRIPT), the counters are not.

'use strict';

const { once } = require('node:events');
const express = require('express');
const { rateLimit } = require('express-rate-limit');
const { RedisStore } = require('rate-limit-redis');
const IORedis = require('ioredis');
const Valkey = require('iovalkey');
const { createClient } = require('redis');
const { port, show, near, restartServer, main } = require('./program.js');

const WINDOW_MS = 60000;

// Each gives the function that sends a command. What fails while the server is away is sent again.
const clients = {
  async 'node-redis'() {
    const client = createClient({ socket: { port }, RESP: 3 });
    client.on('error', () => {});
    await client.connect();
    return (...words) => client.sendCommand(words);
  },
  async ioredis() {
    const client = new IORedis(port);
    client.on('error', () => {});
    return (...words) => client.call(...words);
  },
  async iovalkey() {
    const client = new Valkey(port);
    client.on('error', () => {});
    return (...words) => client.call(...words);
  },
};

async function serve(name, sendCommand) {
  const store = new RedisStore({ sendCommand, prefix: `${name}:` });
  const app = express();
  app.use(rateLimit({
    windowMs: WINDOW_MS, limit: 3, standardHeaders: 'draft-6', legacyHeaders: false, store,
    keyGenerator: (request) => request.get('user'), validate: false,
  }));
  app.get('/', (request, response) => response.send('served'));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ask = async (user) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/`, { headers: { user } });
    const header = (field) => Number(response.headers.get(`ratelimit-${field}`));
    show(name, user, response.status, header('limit'), header('remaining'),
      near(header('reset') * 1000, WINDOW_MS), await response.text());
  };
  return { store, ask };
}

main(async () => {
  const apps = [];
  for (const [name, connect] of Object.entries(clients)) apps.push(await serve(name, await connect()));
  for (const { ask } of apps) {
    for (let i = 0; i < 5; ++i) await ask('ann');
    await ask('bob');
  }
  await restartServer();
  for (const { store, ask } of apps) {
    await ask('ann');
    await ask('bob');
    await store.decrement('bob');
    await ask('bob');
    await store.resetKey('ann');
    await ask('ann');
    const { totalHits, resetTime } = await store.get('bob');
    show('bob', totalHits, near(resetTime - Date.now(), WINDOW_MS));
    await Promise.all(Array.from({ length: 20 }, () => store.increment('cid')));
    show('cid', (await store.increment('cid')).totalHits);
  }
});
