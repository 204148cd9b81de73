// May this happen again? The frequency service with native commands: redigo's pool, and one command
// for each decision.
//
// Usage: service port password <requests >answers
//
//	browse key [rule ...] at     what update would answer
//	update key [rule ...] at     counts the hit where every rule allows it
//	feedback key n at            takes the n newest hits back
//	rush key clients hits rule   how many of clients x hits at once are admitted
//
// Keys are in base64, rules as LIMIT's words, at in unix seconds with a fraction. Answers are
// [allowed, rule, retry_after_ms], and null of feedback.
package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gomodule/redigo/redis"
	"service"
)

type limiter struct{ pool *redis.Pool }

// do ends the process with the connection.
func (l limiter) do(name string, arguments ...interface{}) interface{} {
	conn := l.pool.Get()
	defer conn.Close()
	return service.Ask(conn, func() {}, name, arguments...)
}

// decide is LIMIT.TAKE or LIMIT.PEEK; words are the rules.
func (l limiter) decide(command, key string, words []string, at string) []int64 {
	if at != "" {
		l.do("DEBUG", "CLOCK", "SET", at)
	}
	arguments := redis.Args{}.Add(key).AddFlat(words)
	figures, err := redis.Int64s(l.do(command, arguments...), nil)
	if err != nil || len(figures) != 6 {
		panic(fmt.Sprint(figures, err))
	}
	return []int64{figures[0], figures[5], figures[3]}
}

func (l limiter) rush(key string, clients, hits int, words []string) int64 {
	var admitted int64
	var group sync.WaitGroup
	start := make(chan struct{})
	for client := 0; client < clients; client++ {
		group.Add(1)
		go func() {
			defer group.Done()
			<-start
			for hit := 0; hit < hits; hit++ {
				atomic.AddInt64(&admitted, l.decide("LIMIT.TAKE", key, words, "")[0])
			}
		}()
	}
	close(start)
	group.Wait()
	return admitted
}

func atoi(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return n
}

func (l limiter) handle(line string) interface{} {
	words := strings.Fields(line)
	bytes, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil {
		panic(err)
	}
	key, last := string(bytes), len(words)-1
	switch words[0] {
	case "browse":
		return l.decide("LIMIT.PEEK", key, words[2:last], words[last])
	case "update":
		return l.decide("LIMIT.TAKE", key, words[2:last], words[last])
	case "feedback":
		l.do("DEBUG", "CLOCK", "SET", words[3])
		l.do("LIMIT.GIVE", key, words[2])
		return nil
	case "rush":
		return l.rush(key, atoi(words[2]), atoi(words[3]), words[4:])
	}
	panic("no such request: " + line)
}

func main() {
	pool := service.NewPool()
	defer pool.Close()
	service.ForEachLine(func(line string) { service.Print(limiter{pool}.handle(line)) })
}
