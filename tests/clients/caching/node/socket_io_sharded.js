// Two servers of socket.io with the sharded adapter (SSUBSCRIBE, SPUBLISH): what one of them is told reaches the
// clients of the other.
// Usage: socket_io_sharded.js port

'use strict';

const { once } = require('node:events');
const http = require('node:http');
const { setTimeout: pause } = require('node:timers/promises');
const { createShardedAdapter } = require('@socket.io/redis-adapter');
const { Redis } = require('ioredis');
const { createClient } = require('redis');
const { Server } = require('socket.io');
const { io } = require('socket.io-client');

const port = Number(process.argv[2]);
const show = (what, ...values) => console.log(what, JSON.stringify(values));

const LIBRARIES = {
  'node-redis': async () => {
    const client = createClient({ socket: { port } });
    await client.connect();
    return client;
  },
  ioredis: async () => {
    const client = new Redis({ port });
    await once(client, 'ready');
    return client;
  },
};

async function startServer(connect, options) {
  const [publisher, subscriber] = [await connect(), await connect()];
  const web = http.createServer();
  const server = new Server(web, { adapter: createShardedAdapter(publisher, subscriber, options) });
  server.on('connection', (socket) => {
    socket.on('join', (room, done) => { socket.join(room); done(); });
    socket.on('ask', (done) => done(`answer of ${socket.data.name}`));
    socket.data.name = socket.handshake.auth.name;
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  return { server, url: `http://127.0.0.1:${web.address().port}` };
}

const counted = (server) => server.of('/').adapter.serverCount();

async function run(library, mode) {
  const options = { subscriptionMode: mode, channelPrefix: `${library}-${mode}` };
  const servers = [];
  for (let i = 0; i < 2; ++i) servers.push(await startServer(LIBRARIES[library], options));
  const clients = [];
  for (let i = 0; i < 4; ++i) {
    const client = io(servers[i % 2].url, { auth: { name: `c${i}` }, transports: ['websocket'] });
    client.got = [];
    client.onAny((event, ...values) => client.got.push([event, ...values]));
    await once(client, 'connect');
    clients.push(client);
  }
  const [first, second] = servers.map(({ server }) => server);
  const got = async (what, ...counts) => {
    const arrived = () => clients.every((client, i) => client.got.length >= counts[i]);
    for (const end = Date.now() + 20000; Date.now() < end && !arrived(); await pause(2));
    show(`${library} ${mode} ${what}`, clients.map((client) => client.got.splice(0)));
  };
  // A server learns of the other's by their answers.
  for (const end = Date.now() + 20000; Date.now() < end && await counted(first) < 2; await pause(5));
  show('servers', await counted(first), await counted(second));
  first.emit('all', 1, Buffer.from([0, 13, 10, 255]));
  await got('to all', 1, 1, 1, 1);
  await Promise.all([clients[1], clients[2]].map((client) => client.emitWithAck('join', 'room')));
  await pause(200);  // until the subscriptions are there
  second.to('room').emit('in', 'the room');
  first.except('room').emit('not in', 'the room');
  await got('rooms', 1, 1, 1, 1);
  show('sockets', (await first.fetchSockets()).map((socket) => socket.data.name).sort());
  second.in('room').disconnectSockets(true);
  for (const end = Date.now() + 20000; Date.now() < end && (await first.fetchSockets()).length > 2; await pause(5));
  show('left', (await second.fetchSockets()).map((socket) => socket.data.name).sort());
  for (const client of clients) client.disconnect();
  for (const { server } of servers) await server.close();
}

async function main() {
  for (const library of Object.keys(LIBRARIES)) {
    for (const mode of ['dynamic', 'static', 'dynamic-private']) await run(library, mode);
  }
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
