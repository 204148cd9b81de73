// The steps with node-redis. Arguments: see steps.js.

'use strict';

const { library, port, protocol, failure, about100, run } = require('./steps.js');

const connect = (database) =>
  library.createClient({ socket: { port }, database, ...(protocol && { RESP: protocol }) }).connect();
// Version 4 has no close().
const disconnect = (client) => (client.close ? client.close() : client.quit());

run(connect, disconnect, {
  async strings(client, show) {
    show(await client.ping(), await client.echo('hello'));
    show(await client.set('s', 'value'), await client.get('s'), await client.get('none'));
    show(await client.set('s', 'other', { NX: true }), await client.append('s', '!'),
      await client.strLen('s'));
    const text = '\0\r\n\u00ff$';
    show(await client.set(text, text), await client.get(text));
    show(await client.mSet({ a: '1', b: '2' }), await client.mGet(['a', 'none', 'b']));
  },
  async counters(client, show) {
    show(await client.incr('n'), await client.incrBy('n', 41), await client.decr('n'));
    show(await client.incrByFloat('f', 1.5), await failure(client.incr('s')));
    show(await failure(client.sendCommand(['INCR'])), await failure(client.sendCommand(['NOSUCH', 'a'])));
  },
  async expiry(client, show) {
    show(await client.setEx('e', 100, '1'), about100(await client.ttl('e')), await client.persist('e'));
    show(await client.ttl('e'), await client.ttl('none'), await client.expire('e', 100));
    show(about100(await client.pTTL('e') / 1000), await client.expire('none', 100));
  },
  async lists(client, show) {
    show(await client.rPush('l', ['1', '2', 'three']), await client.lPush('l', '0'), await client.lLen('l'));
    show(await client.lRange('l', 0, -1), await client.lIndex('l', 2), await client.lIndex('l', 9));
    show(await client.lPop('l'), await client.rPop('l'), await client.lPop('none'));
    show(await failure(client.lPush('s', '1')));
  },
  async keys(client, show) {
    show(await client.exists(['l', 's', 'none']), await client.type('l'), await client.type('none'));
    const found = [];
    for await (const page of client.scanIterator({ MATCH: '[ab]' })) found.push(page);
    show(found.flat().sort(), await client.del(['a', 'b', 'none']));
  },
  async pipeline(client, show) {
    show(await Promise.all(Array.from({ length: 100 }, () => client.incr('p'))));
  },
  async databases(client, show) {
    const other = await connect(3);
    show(await other.set('only in 3', 'x'), await client.get('only in 3'), await other.dbSize());
    await disconnect(other);
  },
  async transaction(client, show) {
    show(await client.multi().incr('t').rPush('tl', 'x').get('none').lRange('tl', 0, -1).exec());
  },
  // The reply is read by position, as the README shows.
  async limit(client) {
    let through = 0;
    for (let i = 0; i < 3; ++i) {
      const [allowed] = await client.sendCommand(['LIMIT.TAKE', 'door', 'FIXED', '1', '1h']);
      if (allowed) ++through;
    }
    console.log('let through:', through);
  },
});
