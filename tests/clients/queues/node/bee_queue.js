// bee-queue: a small queue whose workers wait by BRPOPLPUSH. Retries, delays, progress, stalled jobs, and a restart.
// Usage: bee_queue.js port

'use strict';

const { once } = require('node:events');
const readline = require('node:readline');
const Queue = require('bee-queue');

const port = Number(process.argv[2]);
const show = (what, ...values) => console.log(what, JSON.stringify(values));
const open = (name, options) => new Queue(name, { redis: { port }, activateDelayedJobs: true, ...options });

// What becomes of a job: it is told by pub/sub.
const finished = (job) => new Promise((resolve, reject) => {
  job.once('succeeded', resolve);
  job.once('failed', reject);
});

async function run(queue, data, change = (job) => job) {
  const job = change(queue.createJob(data));
  const end = finished(job);
  await job.save();
  return end;
}

async function steps(queue) {
  show('add', await run(queue, { left: 1, right: 2 }));
  show('thirty', await Promise.all(Array.from({ length: 30 }, (_, i) => run(queue, { left: i, right: i }))));
  show('later', await run(queue, { left: 2, right: 3 }, (job) => job.delayUntil(Date.now() + 300)));
  let retries = 0;
  show('retried', await run(queue, { fail: 2 }, (job) => job.retries(4).backoff('fixed', 20)
    .on('retrying', () => { ++retries; })), retries);
  show('failed', await run(queue, { fail: 9 }, (job) => job.retries(0)).catch((error) => error.message));
  const job = queue.createJob({ progress: true });
  const progress = once(job, 'progress');
  const end = finished(job);
  await job.save();
  show('progress', await progress, await end);
  const named = await queue.createJob({ left: 1, right: 1 }).setId('mine').save();
  show('once', named.id, (await queue.createJob({ left: 2, right: 2 }).setId('mine').save()).id);
}

// A worker that is gone leaves its job, and another finds it.
async function stalled() {
  const queue = open('stalled', { stallInterval: 200 });
  await queue.ready();
  const job = await queue.createJob({ left: 3, right: 4 }).save();
  await new Promise((done) => queue.client.rpoplpush('bq:stalled:waiting', 'bq:stalled:active', done));
  const done = once(queue, 'succeeded');
  queue.process(async (found) => found.data.left + found.data.right);
  queue.checkStalledJobs(100);
  const [found, result] = await done;
  show('stalled', found.id === job.id, result);
  await queue.close();
}

function work() {
  const queue = open('queue');
  const attempts = new Map();
  queue.process(4, async (job) => {
    if (job.data.progress) job.reportProgress({ half: true });
    const attempt = (attempts.get(job.id) || 0) + 1;
    attempts.set(job.id, attempt);
    if (attempt <= job.data.fail) throw new Error('not yet');
    return 'left' in job.data ? job.data.left + job.data.right : attempt;
  });
  return queue;
}

async function main() {
  const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const queue = work();
  await steps(queue);
  await stalled();
  let health;
  do health = await queue.checkHealth(); while (health.active || health.waiting);
  show('health', health);
  // Its scripts are loaded once, when a queue is opened.
  await queue.close();
  console.log('restart');
  await answers.next();
  const again = work();
  show('after the restart', await run(again, { left: 20, right: 22 }), await again.checkHealth());
  await again.close();
  const idle = open('queue', { isWorker: false });
  await idle.createJob({}).save();
  show('nobody works', (await idle.checkHealth()).waiting, (await idle.getJobs('waiting', { start: 0, end: 9 })).length);
  await idle.destroy();
  show('destroyed', (await idle.checkHealth()).waiting);
  await idle.close();
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
