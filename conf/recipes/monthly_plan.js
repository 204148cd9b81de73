// Monthly plans from the day of sign-up: each customer's month begins on that day, at that hour, in the customer's zone.
const Redis = require('ioredis');

const tallyd = new Redis(process.env.TALLYD ?? 'redis://127.0.0.1:6379');

// Of who signed up on the 31st the month begins on the last day of a shorter one.
const plan = (customer) => ['CALENDAR', customer.calls, 'month', 'STARTS', customer.signedUp, 'TZ', customer.zone];

async function use(customer) {
  const [allowed, , remaining, , resetAfterMs] = await tallyd.call('LIMIT.TAKE', `plan:${customer.name}`, ...plan(customer));
  const [seconds] = await tallyd.time();
  const next = new Date(Math.round(Number(seconds) + resetAfterMs / 1000) * 1000).toISOString();
  return `${customer.name}: ${allowed ? 'yes' : 'no'}, ${remaining} left until ${next}`;
}

async function main() {
  const ann = { name: 'ann', calls: 1000, signedUp: '31', zone: 'Europe/Berlin' };
  const bob = { name: 'bob', calls: 1, signedUp: '15T10:00', zone: 'America/New_York' };
  for (const customer of [ann, bob, bob]) console.log(await use(customer));
  bob.calls = 500; // A larger plan holds at once, with what was used.
  console.log(await use(bob));
  await tallyd.quit();
}

main();
// prints
//   ann: yes, 999 left until 2026-11-29T23:00:00.000Z
//   bob: yes, 0 left until 2026-12-15T15:00:00.000Z
//   bob: no, 0 left until 2026-12-15T15:00:00.000Z
//   bob: yes, 498 left until 2026-12-15T15:00:00.000Z
