<?php
// Symfony's RateLimiter and Lock over Redis, with phpredis and with predis, through a restart.
// Usage: php symfony.php port client

error_reporting(E_ALL & ~E_DEPRECATED);  // Debian's predis is older than its PHP.

require_once 'Symfony/Component/RateLimiter/autoload.php';
require_once 'Symfony/Component/Lock/autoload.php';
require_once 'Symfony/Component/Cache/autoload.php';
require_once 'Predis/Autoloader.php';

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

[, $port, $library] = $argv;

function show(...$values): void
{
    echo json_encode($values, JSON_THROW_ON_ERROR), "\n";
}

function connect()
{
    global $port, $library;
    if ($library === 'phpredis') {
        $redis = new Redis();
        $redis->connect('127.0.0.1', (int) $port);
        return $redis;
    }
    Predis\Autoloader::register();
    return new Predis\Client(['host' => '127.0.0.1', 'port' => (int) $port]);
}

function limiters(): array
{
    $redis = connect();
    $storage = new CacheStorage(new RedisAdapter($redis, 'limits'));
    $locks = new LockFactory(new RedisStore($redis));
    $configurations = [
        'fixed' => ['policy' => 'fixed_window', 'limit' => 3, 'interval' => '1 hour'],
        'sliding' => ['policy' => 'sliding_window', 'limit' => 3, 'interval' => '1 hour'],
        'bucket' => ['policy' => 'token_bucket', 'limit' => 3, 'rate' => ['interval' => '1 hour', 'amount' => 1]],
    ];
    return array_map(
        fn (string $id) => (new RateLimiterFactory(['id' => $id] + $configurations[$id], $storage, $locks))
            ->create('ann'),
        array_combine(array_keys($configurations), array_keys($configurations)));
}

function take(array $limiters, int $times): void
{
    foreach ($limiters as $name => $limiter) {
        for ($i = 0; $i < $times; ++$i) {
            $limit = $limiter->consume();
            show($name, $limit->isAccepted(), $limit->getRemainingTokens(), $limit->getLimit());
        }
    }
}

function outcome(callable $call): string
{
    try {
        $call();
        return 'done';
    } catch (LockConflictedException) {
        return 'conflict';
    }
}

take(limiters(), 4);
echo "restart\n";
fgets(STDIN);
$limiters = limiters();
take($limiters, 1);
$limiters['fixed']->reset();
take(['fixed' => $limiters['fixed']], 2);

$store = new RedisStore(connect());
[$one, $other] = [new Key('door'), new Key('door')];
show(outcome(fn () => $store->save($one)), outcome(fn () => $store->save($other)), $store->exists($one));
$store->putOffExpiration($one, 50);
show($one->getRemainingLifetime() > 40);
$store->delete($one);
show(outcome(fn () => $store->saveRead($one)), outcome(fn () => $store->saveRead($other)));
show(outcome(fn () => $store->save($other)), $store->exists($one), $store->exists($other));
$store->delete($one);
show(outcome(fn () => $store->save($other)), outcome(fn () => $store->saveRead($one)));
