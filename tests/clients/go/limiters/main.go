// go-limiter with go-redisstore, and throttled with redigo and with go-redis, through a restart.
// Usage: limiters port
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-redis/redis/v8"
	redigo "github.com/gomodule/redigo/redis"
	"github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-redisstore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v8"
	"github.com/throttled/throttled/v2/store/redigostore"
)

const period = time.Hour

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// near tells whether a time has not moved away from `whole` by more than the program may take.
func near(left, whole time.Duration) bool {
	return left > whole-5*time.Minute && left <= whole
}

func dial(address string) func() (redigo.Conn, error) {
	return func() (redigo.Conn, error) { return redigo.Dial("tcp", address) }
}

func bucket(address string) limiter.Store {
	store, err := redisstore.New(&redisstore.Config{Tokens: 3, Interval: period, Dial: dial(address)})
	check(err)
	return store
}

func takeBucket(store limiter.Store, key string, times int) {
	ctx := context.Background()
	for i := 0; i < times; i++ {
		limit, remaining, reset, ok, err := store.Take(ctx, key)
		check(err)
		fmt.Println("go-limiter", key, limit, remaining, near(time.Until(time.Unix(0, int64(reset))), period), ok)
	}
	limit, remaining, err := store.Get(ctx, key)
	fmt.Println("go-limiter", key, limit, remaining, err)
}

func throttles(address string) map[string]*throttled.GCRARateLimiterCtx {
	quota := throttled.RateQuota{MaxRate: throttled.PerHour(1), MaxBurst: 2}
	pool := &redigo.Pool{Dial: dial(address)}
	overRedigo, err := redigostore.NewCtx(pool, "redigo:", 0)
	check(err)
	overGoRedis, err := goredisstore.NewCtx(redis.NewClient(&redis.Options{Addr: address}), "goredis:")
	check(err)
	limiters := map[string]*throttled.GCRARateLimiterCtx{}
	limiters["redigo"], err = throttled.NewGCRARateLimiterCtx(overRedigo, quota)
	check(err)
	limiters["go-redis"], err = throttled.NewGCRARateLimiterCtx(overGoRedis, quota)
	check(err)
	return limiters
}

func takeThrottled(limiters map[string]*throttled.GCRARateLimiterCtx, times int) {
	for _, client := range []string{"redigo", "go-redis"} {
		for i := 0; i < times; i++ {
			limited, result, err := limiters[client].RateLimitCtx(context.Background(), "ann", 1)
			check(err)
			fmt.Println("throttled", client, limited, result.Limit, result.Remaining, near(result.RetryAfter, period))
		}
	}
}

func main() {
	address := "127.0.0.1:" + os.Args[1]
	store := bucket(address)
	takeBucket(store, "ann", 4)
	check(store.Burst(context.Background(), "ann", 2))
	takeBucket(store, "ann", 3)
	check(store.Set(context.Background(), "bob", 1, period))
	takeBucket(store, "bob", 2)
	takeThrottled(throttles(address), 4)

	fmt.Println("restart")
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	takeBucket(bucket(address), "ann", 1)
	takeThrottled(throttles(address), 1)
}
