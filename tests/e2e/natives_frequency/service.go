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
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

const connectionLost = 75

func newPool(address, password string) *redis.Pool {
	return &redis.Pool{
		MaxIdle: 8,
		Dial: func() (redis.Conn, error) {
			return redis.Dial("tcp", address, redis.DialPassword(password))
		},
		TestOnBorrow: func(conn redis.Conn, _ time.Time) error {
			_, err := conn.Do("PING")
			return err
		},
	}
}

type service struct{ pool *redis.Pool }

// do ends the process with the connection.
func (s service) do(name string, arguments ...interface{}) interface{} {
	conn := s.pool.Get()
	defer conn.Close()
	reply, err := conn.Do(name, arguments...)
	if _, refused := err.(redis.Error); refused {
		panic(err)
	}
	if err != nil {
		os.Exit(connectionLost)
	}
	return reply
}

// decide is LIMIT.TAKE or LIMIT.PEEK; words are the rules.
func (s service) decide(command, key string, words []string, at string) []int64 {
	arguments := redis.Args{}.Add(key).AddFlat(words)
	if at != "" {
		arguments = arguments.Add("AT", at)
	}
	figures, err := redis.Int64s(s.do(command, arguments...), nil)
	if err != nil || len(figures) != 6 {
		panic(fmt.Sprint(figures, err))
	}
	return []int64{figures[0], figures[5], figures[3]}
}

func (s service) rush(key string, clients, hits int, words []string) int64 {
	var admitted int64
	var group sync.WaitGroup
	start := make(chan struct{})
	for client := 0; client < clients; client++ {
		group.Add(1)
		go func() {
			defer group.Done()
			<-start
			for hit := 0; hit < hits; hit++ {
				atomic.AddInt64(&admitted, s.decide("LIMIT.TAKE", key, words, "")[0])
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

func (s service) handle(line string) interface{} {
	words := strings.Fields(line)
	bytes, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil {
		panic(err)
	}
	key, last := string(bytes), len(words)-1
	switch words[0] {
	case "browse":
		return s.decide("LIMIT.PEEK", key, words[2:last], words[last])
	case "update":
		return s.decide("LIMIT.TAKE", key, words[2:last], words[last])
	case "feedback":
		s.do("LIMIT.GIVE", key, words[2], "AT", words[3])
		return nil
	case "rush":
		return s.rush(key, atoi(words[2]), atoi(words[3]), words[4:])
	}
	panic("no such request: " + line)
}

func main() {
	pool := newPool("127.0.0.1:"+os.Args[1], os.Args[2])
	defer pool.Close()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		answer, err := json.Marshal(service{pool}.handle(lines.Text()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(answer))
	}
}
