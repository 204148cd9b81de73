<?php
// How often was this said in the last 24 hours? The chat bot's back end with native commands: a
// connection for each message, one command for the user's gate, one for the text.
//
// Usage: php bot.php port password <requests >answers
//   say <unix ms> <user> <base64 text> sets the server's clock
//   say now <user> <base64 text>       leaves the time to the server
// answers, as a line of JSON each, the number of earlier messages of that text in the 24 hours
// before, or null if the user is over the gate or the text is asked too often.

error_reporting(E_ALL & ~E_DEPRECATED);  // Debian's predis is older than its PHP.
require 'Predis/autoload.php';

const MOST_ENTRIES = 5000;

function handle(Predis\Client $redis, array $request): ?int
{
    [, $now, $user, $text] = $request;
    if ($now !== 'now') {
        $redis->executeRaw(['DEBUG', 'CLOCK', 'SET', $now]);
    }
    // FORCE: a refused message counts, too.
    $gate = $redis->executeRaw(['LIMIT.FORCE', "gate:$user", 'FIXED', '120', '1h']);
    if ($gate[0] === 0) {
        return null;
    }
    $hits = $redis->executeRaw(['HITS.ADD', 'message#' . base64_decode($text), '24h',
                                'CAP', (string) (MOST_ENTRIES + 1)]);
    return $hits === null ? null : $hits - 1;
}

try {
    while (($line = fgets(STDIN)) !== false) {
        $redis = new Predis\Client(['host' => '127.0.0.1', 'port' => (int) $argv[1], 'password' => $argv[2]]);
        fwrite(STDOUT, json_encode(handle($redis, explode(' ', rtrim($line)))) . "\n");
        $redis->disconnect();
    }
} catch (Predis\Connection\ConnectionException $lost) {
    exit(75);
}
