<?php
// Laravel's config/database.php: the connection that the middleware uses, beside those that are there.

return [
    'redis' => [
        'client' => 'phpredis',
        'tallyd' => [
            'host' => env('TALLYD_HOST', '127.0.0.1'),
            'port' => env('TALLYD_PORT', 6379),
            // A decision is given up after 50 ms, here in seconds, and is not tried again.
            'timeout' => 0.05,
            'read_timeout' => 0.05,
            // Without a decision: true lets the request pass, false answers 503.
            'fail_open' => env('FAIL_OPEN', true),
        ],
    ],
];
