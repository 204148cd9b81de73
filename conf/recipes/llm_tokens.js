// Tokens of a language model: 20,000 a minute and 100,000 a day, both at once. A call reserves what it may use
// and commits what it used.
const Redis = require('ioredis');

const tallyd = new Redis(process.env.TALLYD ?? 'redis://127.0.0.1:6379');
const RULES = ['FIXED', 20000, '1m', 'CALENDAR', 100000, 'day'];

async function call(id, user, estimate, run) {
  const key = `tokens:${user}`;
  const [allowed, , remaining, retryAfterMs] = await tallyd.call('LIMIT.RESERVE', id, '2m', key, ...RULES, 'COST', estimate);
  if (!allowed) return `refused: ${remaining} left, more in ${Math.ceil(retryAfterMs / 1000)} s`;
  try {
    const used = await run();
    // What was not used is given back; more than was reserved counts too. LATE: it counts when the call is over.
    await tallyd.call('LIMIT.COMMIT', id, key, 'COST', used, 'LATE');
    return `${used} tokens`;
  } catch (error) {
    await tallyd.call('LIMIT.CANCEL', id, key); // All is free again. Without it, when two minutes are over.
    return 'nothing used';
  }
}

// A stream counts as it goes, and asks for more when it needs more.
async function stream(id, user, parts) {
  const key = `tokens:${user}`;
  let held = 1000;
  if (!(await tallyd.call('LIMIT.RESERVE', id, '30s', key, ...RULES, 'COST', held))[0]) return 'refused';
  for (const tokens of parts) {
    while (tokens >= held) {
      if (!(await tallyd.call('LIMIT.EXTEND', id, '30s', key, 'COST', 1000))[0]) return 'cut short';
      held += 1000;
    }
    await tallyd.call('LIMIT.COMMIT', id, key, 'COST', tokens, 'KEEP');
    held -= tokens;
  }
  await tallyd.call('LIMIT.CANCEL', id, key); // Gives back what was not used.
  return 'whole';
}

async function main() {
  console.log('1:', await call('call:1', 'ann', 8000, async () => 1200));
  console.log('2:', await call('call:2', 'ann', 8000, async () => { throw new Error('model is down'); }));
  console.log('3:', await stream('call:3', 'ann', [700, 800, 100]));
  console.log('4:', await call('call:4', 'ann', 18000, async () => 1));
  console.log('used:', (await tallyd.call('LIMIT.SHOW', 'tokens:ann')).map((counter) => counter[2]));
  await tallyd.quit();
}

main();
// prints
//   1: 1200 tokens
//   2: nothing used
//   3: whole
//   4: refused: 17200 left, more in 60 s
//   used: [ 2800, 2800 ]
