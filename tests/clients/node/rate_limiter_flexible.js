// rate-limiter-flexible over ioredis and node-redis: windows, blocks, penalties, bursts, through a
// restart of the server.

'use strict';

const IORedis = require('ioredis');
const { createClient } = require('redis');
const { BurstyRateLimiter, RateLimiterRedis } = require('rate-limiter-flexible');
const { port, show, near, restartServer, main } = require('./program.js');

const SECONDS = 60;

async function connect() {
  const redis = new IORedis(port);
  redis.on('error', () => {});
  const nodeRedis = createClient({ socket: { port } });
  nodeRedis.on('error', () => {});
  await nodeRedis.connect();
  return { ioredis: redis, 'node-redis': nodeRedis };
}

async function step(name, what, call) {
  const [answer, result] = await call.then((allowed) => ['yes', allowed], (refused) => ['no', refused]);
  if (result instanceof Error) throw result;
  if (result === null || typeof result !== 'object') return show(name, what, answer, result);
  const { consumedPoints, remainingPoints, msBeforeNext } = result;
  show(name, what, answer, consumedPoints, remainingPoints, near(msBeforeNext, SECONDS * 1000));
}

async function windows(name, limiter) {
  for (let i = 0; i < 5; ++i) await step(name, 'consume', limiter.consume('ann'));
  await step(name, 'two at once', limiter.consume('bob', 2));
  await step(name, 'penalty', limiter.penalty('bob', 2));
  await step(name, 'reward', limiter.reward('bob', 3));
  await step(name, 'block', limiter.block('cid', SECONDS));
  await step(name, 'blocked', limiter.consume('cid'));
  await step(name, 'nothing', limiter.get('dan'));
  await step(name, 'delete', limiter.delete('cid'));
}

async function again(name, limiter) {
  for (const user of ['ann', 'bob', 'cid']) await step(name, `${user} again`, limiter.consume(user));
  await step(name, 'set', limiter.set('eve', 2, SECONDS));
  await step(name, 'get', limiter.get('eve'));
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => limiter.consume('fay')));
  show(name, 'at once', all.filter(({ status }) => status === 'fulfilled').length);
}

main(async () => {
  const limiters = Object.entries(await connect()).map(([name, storeClient]) => {
    const options = { storeClient, useRedisPackage: name === 'node-redis', points: 3, duration: SECONDS };
    const steady = new RateLimiterRedis({ ...options, keyPrefix: name, blockDuration: SECONDS });
    const burst = new RateLimiterRedis({ ...options, keyPrefix: `${name}-burst`, points: 2 });
    const slow = new RateLimiterRedis({ ...options, keyPrefix: `${name}-slow` });
    return [name, steady, new BurstyRateLimiter(slow, burst)];
  });
  for (const [name, steady, bursty] of limiters) {
    await windows(name, steady);
    for (let i = 0; i < 6; ++i) await step(name, 'bursty', bursty.consume('ann'));
  }
  await restartServer();
  for (const [name, steady, bursty] of limiters) {
    await again(name, steady);
    await step(name, 'bursty', bursty.consume('ann'));
  }
});
