// The steps with ioredis. Arguments: see steps.js.

'use strict';

const { library, port, protocol, failure, about100, run } = require('./steps.js');
const Redis = library.default || library;

const connect = (db) => new Redis({ port, db, ...(protocol && { protocol }) });

run(connect, (client) => client.quit(), {
  async strings(client, show) {
    show(await client.ping(), await client.echo('hello'));
    show(await client.set('s', 'value'), await client.get('s'), await client.get('none'));
    show(await client.set('s', 'other', 'NX'), await client.append('s', '!'), await client.strlen('s'));
    const bytes = Buffer.from([0, 13, 10, 255, 36]);
    show(await client.set(bytes, bytes), await client.getBuffer(bytes));
    show(await client.mset({ a: '1', b: '2' }), await client.mget('a', 'none', 'b'));
  },
  async counters(client, show) {
    show(await client.incr('n'), await client.incrby('n', 41), await client.decr('n'));
    show(await client.incrbyfloat('f', 1.5), await failure(client.incr('s')));
    show(await failure(client.call('INCR')), await failure(client.call('NOSUCH', 'a')));
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
    const found = [];
    for await (const page of client.scanStream({ match: '[ab]' })) found.push(...page);
    show(found.sort(), await client.del('a', 'b', 'none'));
  },
  async pipeline(client, show) {
    const pipeline = client.pipeline();
    for (let i = 0; i < 100; ++i) pipeline.incr('p');
    const replies = await pipeline.exec();
    show(replies.map(([, value]) => value));
  },
  async databases(client, show) {
    const other = connect(3);
    show(await other.set('only in 3', 'x'), await client.get('only in 3'), await other.dbsize());
    await other.quit();
  },
  async transaction(client, show) {
    show(await client.multi().incr('t').rpush('tl', 'x').get('none').lrange('tl', 0, -1).exec());
  },
  // The reply is read by position, as the README shows.
  async limit(client) {
    let through = 0;
    for (let i = 0; i < 3; ++i) {
      const [allowed] = await client.call('LIMIT.TAKE', 'door', 'FIXED', 1, '1h');
      if (allowed) ++through;
    }
    console.log('let through:', through);
  },
});
