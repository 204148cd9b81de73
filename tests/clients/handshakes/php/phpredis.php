<?php
// The steps with the redis extension.

require __DIR__ . '/steps.php';

$port = (int) $argv[1];
$client = new Redis();
$client->connect('127.0.0.1', $port);

/** The extension returns false for an error reply and keeps its text. */
$refused = function (callable $call) use ($client) {
    $client->clearLastError();
    return [$call(), $client->getLastError()];
};

run_steps([
    'strings' => function ($show) use ($client) {
        $show($client->ping(), $client->echo('hello'));
        $show($client->set('s', 'value'), $client->get('s'), $client->get('none'));
        $show($client->set('s', 'other', ['nx']), $client->append('s', '!'), $client->strlen('s'));
        $bytes = "\0\r\n\xff$";
        $show($client->set($bytes, $bytes), $client->get($bytes));
        $show($client->mset(['a' => 1, 'b' => 2]), $client->mget(['a', 'none', 'b']));
    },
    'counters' => function ($show) use ($client, $refused) {
        $show($client->incr('n'), $client->incrBy('n', 41), $client->decr('n'));
        $show($client->incrByFloat('f', 1.5), $refused(fn() => $client->incr('s')));
        $show($refused(fn() => $client->rawCommand('INCR')),
              $refused(fn() => $client->rawCommand('NOSUCH', 'a')));
    },
    'expiry' => function ($show) use ($client) {
        $show($client->setex('e', 100, 1), about_100($client->ttl('e')), $client->persist('e'));
        $show($client->ttl('e'), $client->ttl('none'), $client->expire('e', 100));
        $show(about_100($client->pttl('e') / 1000), $client->expire('none', 100));
    },
    'lists' => function ($show) use ($client, $refused) {
        $show($client->rPush('l', 1, 2, 'three'), $client->lPush('l', 0), $client->lLen('l'));
        $show($client->lRange('l', 0, -1), $client->lIndex('l', 2), $client->lIndex('l', 9));
        $show($client->lPop('l'), $client->rPop('l'), $client->lPop('none'));
        $show($refused(fn() => $client->lPush('s', 1)));
    },
    'keys' => function ($show) use ($client) {
        $show($client->exists('l', 's', 'none'), $client->type('l'), $client->type('none'));
        $client->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
        $found = [];
        $cursor = null;
        while (($page = $client->scan($cursor, '[ab]')) !== false) {
            array_push($found, ...$page);
        }
        sort($found);
        $show($found, $client->del('a', 'b', 'none'));
    },
    'pipeline' => function ($show) use ($client) {
        $pipeline = $client->pipeline();
        for ($i = 0; $i < 100; ++$i) {
            $pipeline->incr('p');
        }
        $show($pipeline->exec());
    },
    'databases' => function ($show) use ($client, $port) {
        $other = new Redis();
        $other->connect('127.0.0.1', $port);
        $show($other->select(3), $other->set('only in 3', 'x'), $client->get('only in 3'), $other->dbSize());
    },
    'transaction' => function ($show) use ($client) {
        $show($client->multi()->incr('t')->rPush('tl', 'x')->get('none')->lRange('tl', 0, -1)->exec());
    },
    'limit' => function () use ($client) {
        $through = 0;
        for ($i = 0; $i < 3; ++$i) {
            [$allowed] = $client->rawCommand('LIMIT.TAKE', 'door', 'FIXED', '1', '1h');
            $through += $allowed ? 1 : 0;
        }
        echo "let through: $through\n";
    },
]);
