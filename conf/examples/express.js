// Express: at most 100 requests a minute from each address. tallyd counts them.
const express = require('express');
const Redis = require('ioredis');

const LIMIT = process.env.LIMIT ?? 100;
const FAIL_OPEN = process.env.FAIL_OPEN !== 'false'; // Without a decision: true lets it pass, false answers 503.

// A decision is given up after 50 ms, and at once without a connection. It is never sent twice.
const tallyd = new Redis(process.env.TALLYD ?? 'redis://127.0.0.1:6379',
  { commandTimeout: 50, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
tallyd.on('error', (error) => console.error('tallyd:', error.message));

async function rateLimit(request, response, next) {
  const take = ['LIMIT.TAKE', `web:${request.ip}`, 'SLIDING', LIMIT, '1m'];
  const reply = await tallyd.call(...take).catch((error) => console.error('no decision:', error.message));
  if (!reply) return FAIL_OPEN ? next() : response.sendStatus(503);
  const [allowed, limit, remaining, retryAfterMs, resetAfterMs] = reply;
  response.set('RateLimit-Policy', `"web";q=${limit};w=60`);
  response.set('RateLimit', `"web";r=${remaining};t=${Math.ceil(resetAfterMs / 1000)}`);
  if (allowed) return next();
  if (retryAfterMs >= 0) response.set('Retry-After', Math.ceil(retryAfterMs / 1000)); // -1: no wait would help
  response.sendStatus(429);
}

const app = express(); // After a proxy, request.ip needs app.set('trust proxy', 1).
app.use(rateLimit);
app.get('/', (request, response) => response.send('hello\n'));
app.listen(process.env.PORT ?? 3000, '127.0.0.1');
