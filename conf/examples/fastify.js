// Fastify: at most 100 requests a minute from each address. tallyd counts them.
const Redis = require('ioredis');
const app = require('fastify')(); // After a proxy, request.ip needs { trustProxy: 1 }.

const LIMIT = process.env.LIMIT ?? 100;
const FAIL_OPEN = process.env.FAIL_OPEN !== 'false'; // Without a decision: true lets it pass, false answers 503.

// A decision is given up after 50 ms, and at once without a connection. It is never sent twice.
const tallyd = new Redis(process.env.TALLYD ?? 'redis://127.0.0.1:6379',
  { commandTimeout: 50, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
tallyd.on('error', (error) => console.error('tallyd:', error.message));

app.addHook('onRequest', async (request, reply) => {
  const take = ['LIMIT.TAKE', `web:${request.ip}`, 'SLIDING', LIMIT, '1m'];
  const decision = await tallyd.call(...take).catch((error) => console.error('no decision:', error.message));
  if (!decision) return FAIL_OPEN ? undefined : reply.code(503).send('try again later\n');
  const [allowed, limit, remaining, retryAfterMs, resetAfterMs] = decision;
  reply.header('RateLimit-Policy', `"web";q=${limit};w=60`);
  reply.header('RateLimit', `"web";r=${remaining};t=${Math.ceil(resetAfterMs / 1000)}`);
  if (allowed) return;
  if (retryAfterMs >= 0) reply.header('Retry-After', Math.ceil(retryAfterMs / 1000)); // -1: no wait would help
  return reply.code(429).send('too many requests\n');
});

app.get('/', async () => 'hello\n');
app.listen({ port: process.env.PORT ?? 3000 });
