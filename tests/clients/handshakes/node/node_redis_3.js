// The steps with node-redis 3, whose functions take callbacks. Arguments: see steps.js.

'use strict';

const { promisify } = require('node:util');
const { library, port, failure, about100, run } = require('./steps.js');

// A client whose commands give promises.
function promising(client) {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'then') return undefined;
      if (name === 'batch' || name === 'multi') return () => target[name]();
      return promisify(target[name]).bind(target);
    },
  });
}

const connect = (db) => promising(library.createClient({ port, db, return_buffers: false }));
const all = (batch) => promisify(batch.exec).call(batch);

run(connect, (client) => client.quit(), {
  async strings(client, show) {
    show(await client.ping(), await client.echo('hello'));
    show(await client.set('s', 'value'), await client.get('s'), await client.get('none'));
    show(await client.set('s', 'other', 'NX'), await client.append('s', '!'), await client.strlen('s'));
    const text = '\0\r\n\u00ff$';
    show(await client.set(text, text), await client.get(text));
    show(await client.mset('a', '1', 'b', '2'), await client.mget('a', 'none', 'b'));
  },
  async counters(client, show) {
    show(await client.incr('n'), await client.incrby('n', 41), await client.decr('n'));
    show(await client.incrbyfloat('f', 1.5), await failure(client.incr('s')));
    show(await failure(client.send_command('INCR')), await failure(client.send_command('NOSUCH', ['a'])));
  },
  async expiry(client, show) {
    show(await client.setex('e', 100, '1'), about100(await client.ttl('e')), await client.persist('e'));
    show(await client.ttl('e'), await client.ttl('none'), await client.expire('e', 100));
    show(about100(await client.pttl('e') / 1000), await client.expire('none', 100));
  },
  async lists(client, show) {
    show(await client.rpush('l', 1, 2, 'three'), await client.lpush('l', 0), await client.llen('l'));
    show(await client.lrange('l', 0, -1), await client.lindex('l', 2), await client.lindex('l', 9));
    show(await client.lpop('l'), await client.rpop('l'), await client.lpop('none'));
    show(await failure(client.lpush('s', 1)));
  },
  async keys(client, show) {
    show(await client.exists('l', 's', 'none'), await client.type('l'), await client.type('none'));
    const [cursor, found] = await client.scan('0', 'MATCH', '[ab]', 'COUNT', '1000');
    show(cursor, found.sort(), await client.del('a', 'b', 'none'));
  },
  async pipeline(client, show) {
    const batch = client.batch();
    for (let i = 0; i < 100; ++i) batch.incr('p');
    show(await all(batch));
  },
  async databases(client, show) {
    const other = connect(3);
    show(await other.set('only in 3', 'x'), await client.get('only in 3'), await other.dbsize());
    await other.quit();
  },
  async transaction(client, show) {
    show(await all(client.multi().incr('t').rpush('tl', 'x').get('none').lrange('tl', 0, -1)));
  },
  // The reply is read by position, as the README shows.
  async limit(client) {
    let through = 0;
    for (let i = 0; i < 3; ++i) {
      const [allowed] = await client.send_command('LIMIT.TAKE', ['door', 'FIXED', '1', '1h']);
      if (allowed) ++through;
    }
    console.log('let through:', through);
  },
});
