<?php
// What the two PHP programs share. Usage: php <program>.php port step...

error_reporting(E_ALL & ~E_DEPRECATED);  // Debian's predis is older than its PHP.

function printable($value)
{
    if (is_array($value)) {
        return array_map('printable', $value);
    }
    return is_string($value) && !preg_match('//u', $value) ? ['hex' => bin2hex($value)] : $value;
}

/** The error reply as a value to show. */
function failure(callable $call)
{
    try {
        return ['no error', $call()];
    } catch (Exception $error) {
        return [get_class($error), $error->getMessage()];
    }
}

/** A time to live of 100 s may have lost some of it on a slow machine. */
function about_100(float $ttl): bool
{
    return $ttl > 50 && $ttl <= 100;
}

function run_steps(array $definitions): void
{
    global $argv;
    foreach (array_slice($argv, 2) as $step) {
        $definitions[$step](function (...$values) use ($step) {
            echo $step, ' ', json_encode(printable($values), JSON_THROW_ON_ERROR), "\n";
        });
    }
}
