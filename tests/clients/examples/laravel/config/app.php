<?php
// Of Laravel's parts, those that a page without views and sessions needs.

return [
    'key' => str_repeat('k', 32),
    'timezone' => 'UTC',
    'locale' => 'en',
    'providers' => [
        Illuminate\Filesystem\FilesystemServiceProvider::class,
        Illuminate\Redis\RedisServiceProvider::class,
        Illuminate\View\ViewServiceProvider::class,
    ],
    'aliases' => [],
];
