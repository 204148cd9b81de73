// Counts on whichever server the Sentinels call the primary, through go-redis. Usage: go name port…
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-redis/redis/v8"
)

func main() {
	var sentinels []string
	for _, port := range os.Args[2:] {
		sentinels = append(sentinels, "127.0.0.1:"+port)
	}
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName:    os.Args[1],
		SentinelAddrs: sentinels,
		DialTimeout:   time.Second,
		ReadTimeout:   time.Second,
	})
	for {
		count, err := client.Incr(context.Background(), "go-redis").Result()
		if err == nil {
			fmt.Println("counted", count)
		} else {
			fmt.Println("failed", err)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
