// As load.py, with go-redis.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

type result struct {
	Taken   map[string]int `json:"taken"`
	Unknown map[string]int `json:"unknown"`
	Calls   int            `json:"calls"`
}

func number(index int) int {
	value, err := strconv.Atoi(os.Args[index])
	if err != nil {
		panic(err)
	}
	return value
}

func wordsOf(dice *rand.Rand, limit, keys int, prefix string) ([]any, []string) {
	slot := dice.Intn(keys)
	kind := []string{"fixed", "sliding", "policy"}[dice.Intn(3)]
	key := fmt.Sprintf("%s%s:{%d}", prefix, kind, slot)
	words := map[string][]any{
		"fixed":   {"LIMIT.TAKE", key, "FIXED", limit, "10h"},
		"sliding": {"LIMIT.TAKE", key, "SLIDING", limit, "10h"},
		"policy":  {"LIMIT.TAKE", key, "POLICY", "hundred"},
	}[kind]
	if dice.Float64() >= 0.2 {
		return words, []string{key}
	}
	both := fmt.Sprintf("%sboth:{%d}", prefix, slot)
	return append(words, "AND", both, "FIXED", 100*limit, "10h"), []string{key, both}
}

func isServersError(err error) bool {
	_, ok := err.(redis.Error)
	return ok
}

func main() {
	dice := rand.New(rand.NewSource(int64(number(2))))
	// Of what has no reply nothing is sent again by itself: it may have been done. What may not be sent again
	// may not be redirected either, so that the application is told of each move, and asks once more.
	cluster := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{fmt.Sprintf("127.0.0.1:%d", number(1))}, MaxRetries: -1, MaxRedirects: -1,
	})
	ctx := context.Background()
	cluster.Ping(ctx)
	total := result{Taken: map[string]int{}, Unknown: map[string]int{}}
	ended := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		close(ended)
	}()
	fmt.Println("ready")
	for {
		select {
		case <-ended:
			json.NewEncoder(os.Stdout).Encode(total)
			return
		default:
		}
		words, names := wordsOf(dice, number(3), number(4), os.Args[5])
		total.Calls++
		reply, err := cluster.Do(ctx, words...).Slice()
		if err != nil {
			if !isServersError(err) {
				for _, name := range names {
					total.Unknown[name]++
				}
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if reply[0] == int64(1) {
			for _, name := range names {
				total.Taken[name]++
			}
		}
	}
}
