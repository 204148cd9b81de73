<?php
// How often was this said in the last 24 hours? A chat bot's back end as such bots are written: a
// connection for each message, one list of times for each text, one counter for each user.
//
// Usage: php bot.php port password <requests >journal
//   say <unix s> <user> <base64 text>   answers the number of earlier messages of that text, or null
//   forget                              deletes every key
// The journal is that of lib/crash_run.py.

error_reporting(E_ALL & ~E_DEPRECATED);  // Debian's predis is older than its PHP.
require 'Predis/autoload.php';

const WINDOW_SECONDS = 86400;
const MOST_ENTRIES = 5000;
const MESSAGES_PER_USER = 120;
const ALL_MESSAGES = '-1';
const REFUSED_MESSAGES = '-2';
const USER_EXPIRY = 1795230400;  // Meant as an instant; EXPIRE takes it as 57 years.

function encode($value)
{
    if (is_array($value)) {
        return array_map('encode', $value);
    }
    if ($value === null || is_int($value)) {
        return $value;
    }
    return base64_encode((string) $value);
}

function journal(array $record): void
{
    fwrite(STDOUT, json_encode($record) . "\n");
}

function milliseconds(): float
{
    return floor(microtime(true) * 1000);
}

/** The bot's connection; it journals every command that changes or reads a key. */
class Store
{
    private Predis\Client $redis;
    public array $pending = [];
    public float $pendingSince = 0;

    public function __construct(int $port, string $password)
    {
        $this->pendingSince = milliseconds();
        $this->redis = new Predis\Client(['host' => '127.0.0.1', 'port' => $port, 'password' => $password]);
        $this->redis->connect();
    }

    public function send(string $command, string ...$arguments)
    {
        $this->pending = [$command, ...$arguments];
        $this->pendingSince = milliseconds();
        $reply = $this->redis->$command(...$arguments);
        journal(['sent' => encode($this->pending), 'from' => $this->pendingSince, 'at' => milliseconds(),
                 'got' => encode($reply)]);
        $this->pending = [];
        return $reply;
    }

    public function keys(): array
    {
        $keys = [];
        $cursor = '0';
        do {
            [$cursor, $page] = $this->redis->scan($cursor, ['MATCH' => '*']);
            array_push($keys, ...$page);
        } while ($cursor !== '0');
        return array_unique($keys);
    }

    public function disconnect(): void
    {
        $this->redis->disconnect();
    }
}

/** Whether the user may still speak; a refused message counts, too. */
function admit(Store $store, string $user): bool
{
    $messages = $store->send('incr', $user);
    if ($messages === 1) {
        $store->send('expire', $user, (string) USER_EXPIRY);
    }
    if ($messages > MESSAGES_PER_USER) {
        $store->send('incr', REFUSED_MESSAGES);
        return false;
    }
    $store->send('incr', ALL_MESSAGES);
    return true;
}

/** Removes the old entries at the head of the text's list, adds this one; the number there was. */
function count_and_add(Store $store, string $text, int $now): ?int
{
    $key = 'message#' . $text;
    $entries = $store->send('llen', $key);
    if ($entries > MOST_ENTRIES) {
        return null;
    }
    while (($oldest = $store->send('lpop', $key)) !== null) {
        if ((int) $oldest > $now - WINDOW_SECONDS) {
            $store->send('lpush', $key, $oldest);
            break;
        }
        --$entries;
    }
    $store->send('rpush', $key, (string) $now);
    return $entries;
}

function handle(Store $store, array $request): ?int
{
    if ($request[0] === 'forget') {
        $keys = $store->keys();
        foreach ($keys as $key) {
            $store->send('del', (string) $key);
        }
        return count($keys);
    }
    [, $now, $user, $text] = $request;
    return admit($store, $user) ? count_and_add($store, base64_decode($text), (int) $now) : null;
}

$store = null;
try {
    while (($line = fgets(STDIN)) !== false) {
        $store = null;
        $store = new Store((int) $argv[1], $argv[2]);
        journal(['answer' => handle($store, explode(' ', rtrim($line)))]);
        $store->disconnect();
    }
} catch (Predis\Connection\ConnectionException $lost) {
    journal(['lost' => encode($store->pending ?? []), 'from' => $store->pendingSince ?? milliseconds()]);
    exit(75);
}
