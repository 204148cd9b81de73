// async-ratelimiter: a sliding log in a sorted set, kept by a script.

'use strict';

const IORedis = require('ioredis');
const RateLimiter = require('async-ratelimiter');
const { port, show, near, restartServer, main } = require('./program.js');

const DURATION_MS = 60000;

main(async () => {
  const db = new IORedis(port);
  db.on('error', () => {});
  const limiter = new RateLimiter({ db, max: 3, duration: DURATION_MS });
  const take = async (options) => {
    const { total, remaining, reset } = await limiter.get(options);
    show('take', total, remaining, near(reset - Date.now(), DURATION_MS));
  };
  for (let i = 0; i < 5; ++i) await take({ id: 'ann' });
  await take({ id: 'ann', peek: true });
  await take({ id: 'bob', peek: true });
  await restartServer();
  await take({ id: 'ann' });
  await take({ id: 'bob' });
  const all = await Promise.all(Array.from({ length: 20 }, () => limiter.get({ id: 'cid', max: 10 })));
  show('at once', all.filter(({ remaining }) => remaining > 0).length);
});
