<?php
// Laravel: in the route, ->middleware(RateLimit::class.':100') allows 100 requests a minute from each
// address. tallyd counts them. How it is asked, and what happens without it, says database.php.
namespace App\Http\Middleware;
use Closure;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Log;
use Illuminate\Support\Facades\Redis;

class RateLimit
{
    public function handle(Request $request, Closure $next, string $limit)
    {
        try {
            $take = ['LIMIT.TAKE', 'web:'.$request->ip(), 'SLIDING', $limit, '1m'];
            $reply = Redis::connection('tallyd')->executeRaw($take) ?: throw new \RedisException('refused');
        } catch (\RedisException $error) {
            Log::error('no decision: '.$error->getMessage());
            return config('database.redis.tallyd.fail_open') ? $next($request) : response('try again later', 503);
        }
        [$allowed, $limit, $remaining, $retryAfterMs, $resetAfterMs] = $reply;
        $response = $allowed ? $next($request) : response('too many requests', 429);
        $response->headers->set('RateLimit-Policy', "\"web\";q=$limit;w=60");
        $response->headers->set('RateLimit', "\"web\";r=$remaining;t=".(int) ceil($resetAfterMs / 1000));
        if (! $allowed && $retryAfterMs >= 0) { // -1: no wait would help
            $response->headers->set('Retry-After', (int) ceil($retryAfterMs / 1000));
        }
        return $response;
    }
}
