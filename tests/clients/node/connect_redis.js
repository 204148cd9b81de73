// connect-redis: express sessions, over node-redis, and its store by itself.

'use strict';

const { once } = require('node:events');
const express = require('express');
const session = require('express-session');
const { RedisStore } = require('connect-redis');
const { createClient } = require('redis');
const { port, show, near, restartServer, main } = require('./program.js');

main(async () => {
  const client = createClient({ socket: { port } });
  client.on('error', () => {});
  await client.connect();
  const store = new RedisStore({ client, ttl: 1000, scanCount: 5 });
  const app = express();
  app.use(session({ store, secret: 's', resave: false, saveUninitialized: false }));
  app.get('/', (request, response) => {
    request.session.views = (request.session.views || 0) + 1;
    response.json(request.session.views);
  });
  app.get('/leave', (request, response) => request.session.destroy(() => response.json('left')));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let cookie = '';
  const visit = async (path) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, { headers: { cookie } });
    cookie = response.headers.get('set-cookie')?.split(';')[0] || cookie;
    show('visit', path, response.status, await response.json());
  };
  await visit('/');
  await visit('/');
  await restartServer();
  await visit('/');
  const [key] = await client.keys('sess:*');
  show('lives', near(await client.ttl(key), 1000));
  await visit('/leave');
  await visit('/');

  await store.clear();
  for (let i = 0; i < 50; ++i) await store.set(`id${i}`, { cookie: {}, i });
  show('length', await store.length(), (await store.ids()).sort(), (await store.all()).length);
  await store.touch('id7', { cookie: { expires: new Date(Date.now() + 60000) } });
  show('touched', near(await client.ttl('sess:id7'), 60));
  await store.destroy('id7');
  show('destroyed', await store.get('id7'), await store.get('id8'));
  await store.clear();
  show('cleared', await store.length());
});
