// The Redis storage of Nest's throttler.

'use strict';

const IORedis = require('ioredis');
const { ThrottlerStorageRedisService } = require('@nest-lab/throttler-storage-redis');
const { port, show, near, restartServer, main } = require('./program.js');

const TTL_MS = 60000;

main(async () => {
  const client = new IORedis(port);
  client.on('error', () => {});
  const storage = new ThrottlerStorageRedisService(client);
  const hit = async (key, blockMs) => {
    const { totalHits, timeToExpire, isBlocked, timeToBlockExpire } =
      await storage.increment(key, TTL_MS, 3, blockMs, 'default');
    show(key, totalHits, near(timeToExpire, TTL_MS / 1000), isBlocked,
      isBlocked && near(timeToBlockExpire, Math.ceil(blockMs / 1000)));
  };
  for (let i = 0; i < 5; ++i) await hit('ann', 30000);
  await restartServer();
  await hit('ann', 30000);
  for (let i = 0; i < 5; ++i) await hit('bob', 100);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await hit('bob', 100);
  await Promise.all(Array.from({ length: 50 }, () => storage.increment('cid', TTL_MS, 10, 1000, 'default')));
  show('cid', (await storage.increment('cid', TTL_MS, 10, 1000, 'default')).totalHits);
});
