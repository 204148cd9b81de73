// node-redis with clientSideCache: what was read comes from memory until the server says that it has changed.
// Usage: client_side_cache.js port

'use strict';

const { setTimeout: pause } = require('node:timers/promises');
const { createClient, createClientPool, BasicClientSideCache, BasicPooledClientSideCache } = require('redis');

const port = Number(process.argv[2]);
const show = (what, ...values) => console.log(what, JSON.stringify(values));

// Reads until the value is the one that the server has: the message comes by itself.
async function await_(what, read, wanted) {
  for (const end = Date.now() + 20000; Date.now() < end; await pause(2)) {
    const value = await read();
    if (JSON.stringify(value) === JSON.stringify(wanted)) return show(what, value);
  }
  return show(what, 'stays', await read());
}

async function run(name, client, cache, other) {
  const hits = () => cache.stats().hitCount;
  const read = () => client.get('k');
  const cached = async () => {
    await read();
    const before = hits();
    await read();
    show('cached', hits() > before);
  };
  const change = async (what, wanted, ...words) => {
    await cached();
    await other.sendCommand(words);
    await await_(`${name} ${what}`, read, wanted);
  };
  await change('SET', '1', 'SET', 'k', '1');
  await change('INCR', '2', 'INCR', 'k');
  await change('DEL', null, 'DEL', 'k');
  await change('MSET', '5', 'MSET', 'a', '1', 'k', '5');
  await change('RENAME', null, 'RENAME', 'k', 'b');
  await change('COPY', '5', 'COPY', 'b', 'k');
  await change('GETDEL', null, 'GETDEL', 'k');
  await change('SETEX', '7', 'SETEX', 'k', '1000', '7');
  await change('a script', '8', 'EVAL', 'return redis.call("INCR",KEYS[1])', '1', 'k');
  await change('FLUSHALL', null, 'FLUSHALL');
  await other.set('k', 'soon', { PX: 60 });
  await await_(`${name} expiry`, read, null);
  await other.hSet('hash', { a: '1', b: '2' });
  show('hash', await client.hGetAll('hash'), await client.hGetAll('hash'));
  await other.hSet('hash', 'a', '3');
  await await_(`${name} HSET`, () => client.hGet('hash', 'a'), '3');
  await other.flushAll();
}

async function main() {
  const other = createClient({ socket: { port } });
  await other.connect();

  const cache = new BasicClientSideCache({ maxEntries: 100, evictPolicy: 'LRU' });
  const client = createClient({ socket: { port }, RESP: 3, clientSideCache: cache });
  await client.connect();
  await run('client', client, cache, other);
  client.destroy();

  const pooled = new BasicPooledClientSideCache({ maxEntries: 100 });
  const pool = createClientPool({ socket: { port }, RESP: 3 }, { clientSideCache: pooled, minimum: 2 });
  await pool.connect();
  await run('pool', pool, pooled, other);
  pool.destroy();
  other.destroy();
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
