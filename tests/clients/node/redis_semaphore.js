// redis-semaphore: locks that others wait for, that expire, and that are lost.

'use strict';

const IORedis = require('ioredis');
const {
  Mutex, Semaphore, MultiSemaphore, RedlockMutex, RedlockSemaphore, TimeoutError,
} = require('redis-semaphore');
const { port, show, main } = require('./program.js');

const QUICK = { acquireTimeout: 200, retryInterval: 10, lockTimeout: 1000, refreshInterval: 100 };

const outcome = (promise) =>
  promise.then(() => 'acquired', (error) => (error instanceof TimeoutError ? 'timeout' : error.message));

async function contend(name, make) {
  const [first, second, third] = [make(), make(), make()];
  show(name, await outcome(first.acquire()), await outcome(second.acquire()), await outcome(third.acquire()));
  await first.release();
  show(name, first.isAcquired, await outcome(third.acquire()), third.isAcquired);
  await Promise.all([second.release(), third.release()]);
}

main(async () => {
  const client = new IORedis(port);
  await contend('mutex', () => new Mutex(client, 'mutex', QUICK));
  await contend('semaphore', () => new Semaphore(client, 'semaphore', 2, QUICK));
  await contend('multi', () => new MultiSemaphore(client, 'multi', 4, 2, QUICK));
  await contend('redlock mutex', () => new RedlockMutex([client], 'redlock', QUICK));
  await contend('redlock semaphore', () => new RedlockSemaphore([client], 'redlock semaphore', 2, QUICK));

  const inTurn = [];
  await Promise.all(Array.from({ length: 10 }, async (_, i) => {
    const mutex = new Mutex(client, 'turns', { ...QUICK, acquireTimeout: 10000 });
    await mutex.acquire();
    inTurn.push(inTurn.length);
    await mutex.release();
    return i;
  }));
  show('one after the other', inTurn);

  const refreshed = new Mutex(client, 'refreshed', { ...QUICK, lockTimeout: 300, refreshInterval: 50 });
  await refreshed.acquire();
  await new Promise((resolve) => setTimeout(resolve, 600));
  show('refreshed', refreshed.isAcquired, await client.exists('mutex:refreshed'));
  await refreshed.release();

  let lose;
  const lost = new Promise((resolve) => { lose = resolve; });
  const mutex = new Mutex(client, 'lost', { ...QUICK, onLockLost: lose });
  await mutex.acquire();
  await client.del('mutex:lost');
  show('lost', (await lost).name);
});
