// Bull: a queue whose worker waits by BRPOPLPUSH. Priorities, delays, retries, progress, repetition, pausing, a rate
// limit, and a restart.
// Usage: bull.js port

'use strict';

const { EventEmitter, once } = require('node:events');
const readline = require('node:readline');
const { setTimeout: pause } = require('node:timers/promises');
const Queue = require('bull');

const port = Number(process.argv[2]);
const show = (what, ...values) => console.log(what, JSON.stringify(values));
const open = (name, options) => new Queue(name, { redis: { port }, ...options }).setMaxListeners(0);

const counts = async (queue) => {
  const { waiting, active, completed, failed, delayed } = await queue.getJobCounts();
  return { waiting, active, completed, failed, delayed };
};

async function work(queue) {
  queue.process('add', 4, async (job) => {
    await job.progress(50);
    return job.data.left + job.data.right;
  });
  queue.process('third time', async (job) => {
    if (job.attemptsMade < 2) throw new Error('not yet');
    return job.attemptsMade;
  });
  const progress = [];
  queue.on('global:progress', (id, at) => progress.push(at));
  const add = (left, right, options) => queue.add('add', { left, right }, options);
  show('add', await (await add(1, 2)).finished());
  const many = await Promise.all(Array.from({ length: 30 }, (_, i) => add(i, i)));
  show('thirty', await Promise.all(many.map((job) => job.finished())));
  show('bulk', await Promise.all((await queue.addBulk([1, 2, 3].map((i) => ({ name: 'add', data: { left: i, right: 0 } }))))
    .map((job) => job.finished())));
  show('later', await (await add(2, 3, { delay: 300 })).finished());
  const retried = await queue.add('third time', {}, { attempts: 5, backoff: 20 });
  show('retried', await retried.finished());
  const failed = await queue.add('third time', {});
  show('failed', await failed.finished().catch((error) => error.message), await failed.getState());
  show('once', (await add(1, 1, { jobId: 'mine' })).id, (await add(2, 2, { jobId: 'mine' })).id);
  show('mine', await (await queue.getJob('mine')).finished(), progress.length >= 35 && progress.every((at) => at === 50));
}

async function inOrder(queue) {
  await queue.pause();
  for (const priority of [3, 1, 2, 1]) await queue.add({ priority }, { priority });
  await queue.add({ priority: 0 }, { lifo: true });
  show('paused', await queue.isPaused(), await queue.getPausedCount(), (await counts(queue)).completed);
  const done = [];
  const drained = once(queue, 'drained');
  queue.process((job) => { done.push(job.data.priority); });
  await pause(100);
  show('still', done);
  await queue.resume();
  await drained;
  await queue.whenCurrentJobsFinished();
  show('in order', done, await counts(queue));
}

async function limited() {
  const queue = open('limited', { limiter: { max: 2, duration: 500 } });
  const start = Date.now();
  queue.process((job) => job.data);
  const jobs = await Promise.all([1, 2, 3, 4, 5].map((i) => queue.add({ i })));
  show('limited', await Promise.all(jobs.map((job) => job.finished())), Date.now() - start >= 700);
  await queue.close();
}

async function repeated() {
  const queue = open('repeated');
  const times = new EventEmitter();
  let count = 0;
  queue.process((job) => { if (++count === 3) times.emit('three', job.data); });
  const three = once(times, 'three');
  await queue.add({ every: 'tick' }, { repeat: { every: 100 } });
  show('repeated', await three, (await queue.getRepeatableJobs()).map(({ every }) => every));
  for (const { key } of await queue.getRepeatableJobs()) await queue.removeRepeatableByKey(key);
  show('no more', (await queue.getRepeatableJobs()).length);
  await queue.close();
}

async function main() {
  const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const queue = open('queue');
  await work(queue);
  show('counts', await counts(queue));
  const second = open('order');
  await inOrder(second);
  await limited();
  await repeated();
  // Lost connections are made again; what the clients say of it differs.
  for (const each of [queue, second]) each.on('error', () => {});
  console.log('restart');
  await answers.next();
  show('after the restart', await (await queue.add('add', { left: 20, right: 22 })).finished());
  await new Promise((done) => setTimeout(done, 20)); // CLEAN leaves what ended within this millisecond
  show('cleaned', (await queue.clean(0, 'completed')).length, await counts(queue));
  await queue.obliterate({ force: true });
  await Promise.all([queue.close(), second.close()]);
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
