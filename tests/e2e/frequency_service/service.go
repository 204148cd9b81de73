// May this happen again? A frequency service as such services are written: redigo's pool, and a look
// before each hit.
//
// Usage: service port password <requests >journal
//
//	count key limit period           at most limit hits in a window that the first one opens
//	base key base limit day period   from the base-th hit of the day on, at most limit a period
//	leak key limit period now        at most limit hits in any period, or so the service means
//	feedback key n                   takes the n newest hits of a leak back
//	multi key...                     the counters of all keys
//
// Keys are in base64, times in seconds. The journal is that of lib/crash_run.py.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

const connectionLost = 75

// encode gives bytes in base64 and leaves integers, nulls and the shape of arrays.
func encode(value interface{}) interface{} {
	switch v := value.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case string:
		return base64.StdEncoding.EncodeToString([]byte(v))
	case []interface{}:
		encoded := make([]interface{}, len(v))
		for i := range v {
			encoded[i] = encode(v[i])
		}
		return encoded
	}
	return value
}

func journal(record map[string]interface{}) {
	line, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

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

// store is one borrowed connection. It journals each command and ends the process with the connection.
type store struct{ conn redis.Conn }

func (s store) do(name string, arguments ...interface{}) interface{} {
	sent := []interface{}{name}
	for _, argument := range arguments {
		sent = append(sent, fmt.Sprint(argument))
	}
	from := time.Now().UnixMilli()
	reply, err := s.conn.Do(name, sent[1:]...)
	if _, refused := err.(redis.Error); refused {
		panic(err)
	}
	if err != nil {
		journal(map[string]interface{}{"lost": encode(sent), "from": from})
		os.Exit(connectionLost)
	}
	journal(map[string]interface{}{
		"sent": encode(sent), "from": from, "at": time.Now().UnixMilli(), "got": encode(reply)})
	return reply
}

func (s store) number(name string, arguments ...interface{}) int {
	n, err := redis.Int(s.do(name, arguments...), nil)
	if err == redis.ErrNil {
		return 0
	}
	if err != nil {
		panic(err)
	}
	return n
}

// hit opens the window or counts in it.
func (s store) hit(key string, period int) {
	if s.number("EXISTS", key) == 0 {
		s.do("SETEX", key, period, 1)
	} else {
		s.do("INCR", key)
	}
}

func (s store) count(key string, limit, period int) bool {
	if s.number("GET", key) >= limit {
		return false
	}
	s.hit(key, period)
	return true
}

func (s store) base(key string, base, limit, day, period int) bool {
	today := s.number("GET", key)
	if today >= base && s.number("GET", key+"_B") >= limit {
		return false
	}
	s.hit(key, day)
	if today+1 >= base {
		s.hit(key+"_B", period)
	}
	return true
}

func (s store) leak(key string, limit, period, now int) bool {
	hits := s.number("LLEN", key)
	if hits > limit && now-s.number("LINDEX", key, limit) < period {
		return false
	}
	for ; hits > limit+1; hits-- {
		s.do("RPOP", key)
	}
	s.do("LPUSH", key, now)
	s.do("EXPIRE", key, 2*period)
	return true
}

func (s store) feedback(key string, n int) int {
	taken := 0
	for ; n > 0 && s.do("LPOP", key) != nil; n-- {
		taken++
	}
	return taken
}

func (s store) multi(keys []string) []int {
	arguments := make([]interface{}, len(keys))
	for i, key := range keys {
		arguments[i] = key
	}
	counters := make([]int, len(keys))
	for i, value := range s.do("MGET", arguments...).([]interface{}) {
		if value != nil {
			counters[i], _ = redis.Int(value, nil)
		}
	}
	return counters
}

func (s store) handle(line string) interface{} {
	words := strings.Fields(line)
	var keys []string
	var numbers []int
	for _, word := range words[1:] {
		if n, err := strconv.Atoi(word); err == nil && words[0] != "multi" {
			numbers = append(numbers, n)
		} else if key, err := base64.StdEncoding.DecodeString(word); err == nil {
			keys = append(keys, string(key))
		} else {
			panic(err)
		}
	}
	switch words[0] {
	case "count":
		return s.count(keys[0], numbers[0], numbers[1])
	case "base":
		return s.base(keys[0], numbers[0], numbers[1], numbers[2], numbers[3])
	case "leak":
		return s.leak(keys[0], numbers[0], numbers[1], numbers[2])
	case "feedback":
		return s.feedback(keys[0], numbers[0])
	case "multi":
		return s.multi(keys)
	}
	panic("no such request: " + line)
}

func main() {
	pool := newPool("127.0.0.1:"+os.Args[1], os.Args[2])
	defer pool.Close()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		conn := pool.Get()
		if err := conn.Err(); err != nil {
			journal(map[string]interface{}{"lost": []string{}, "from": time.Now().UnixMilli()})
			os.Exit(connectionLost)
		}
		journal(map[string]interface{}{"answer": store{conn}.handle(lines.Text())})
		conn.Close()
	}
}
