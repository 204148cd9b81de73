<?php
// The steps with predis.

require __DIR__ . '/steps.php';
require 'Predis/autoload.php';

$port = (int) $argv[1];
$client = new Predis\Client(['port' => $port]);

/** Statuses are objects in predis. */
function plain($reply)
{
    return $reply instanceof Predis\Response\Status ? $reply->getPayload() : $reply;
}

run_steps([
    'strings' => function ($show) use ($client) {
        $show(plain($client->ping()), $client->echo('hello'));
        $show(plain($client->set('s', 'value')), $client->get('s'), $client->get('none'));
        $show($client->set('s', 'other', 'NX'), $client->append('s', '!'), $client->strlen('s'));
        $bytes = "\0\r\n\xff$";
        $show(plain($client->set($bytes, $bytes)), $client->get($bytes));
        $show(plain($client->mset(['a' => 1, 'b' => 2])), $client->mget('a', 'none', 'b'));
    },
    'counters' => function ($show) use ($client) {
        $show($client->incr('n'), $client->incrby('n', 41), $client->decr('n'));
        $show($client->incrbyfloat('f', 1.5), failure(fn() => $client->incr('s')));
        $show($client->executeRaw(['INCR']), $client->executeRaw(['NOSUCH', 'a']));
    },
    'expiry' => function ($show) use ($client) {
        $show(plain($client->setex('e', 100, 1)), about_100($client->ttl('e')), $client->persist('e'));
        $show($client->ttl('e'), $client->ttl('none'), $client->expire('e', 100));
        $show(about_100($client->pttl('e') / 1000), $client->expire('none', 100));
    },
    'lists' => function ($show) use ($client) {
        $show($client->rpush('l', [1, 2, 'three']), $client->lpush('l', [0]), $client->llen('l'));
        $show($client->lrange('l', 0, -1), $client->lindex('l', 2), $client->lindex('l', 9));
        $show($client->lpop('l'), $client->rpop('l'), $client->lpop('none'));
        $show(failure(fn() => $client->lpush('s', [1])));
    },
    'keys' => function ($show) use ($client) {
        $show($client->exists('l'), plain($client->type('l')), plain($client->type('none')));
        $found = iterator_to_array(new Predis\Collection\Iterator\Keyspace($client, '[ab]'));
        sort($found);
        $show($found, $client->del('a', 'b', 'none'));
    },
    'pipeline' => function ($show) use ($client) {
        $show($client->pipeline(function ($pipeline) {
            for ($i = 0; $i < 100; ++$i) {
                $pipeline->incr('p');
            }
        }));
    },
    'databases' => function ($show) use ($client, $port) {
        $other = new Predis\Client(['port' => $port, 'database' => 3]);
        $show(plain($other->set('only in 3', 'x')), $client->get('only in 3'), $other->dbsize());
    },
    'transaction' => function ($show) use ($client) {
        $show($client->transaction(function ($transaction) {
            $transaction->incr('t');
            $transaction->rpush('tl', ['x']);
            $transaction->get('none');
            $transaction->lrange('tl', 0, -1);
        }));
    },
    'limit' => function () use ($client) {
        $through = 0;
        for ($i = 0; $i < 3; ++$i) {
            [$allowed] = $client->executeRaw(['LIMIT.TAKE', 'door', 'FIXED', '1', '1h']);
            $through += $allowed ? 1 : 0;
        }
        echo "let through: $through\n";
    },
]);
