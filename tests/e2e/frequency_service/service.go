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
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"
	"service"
)

type store struct{ service.Store }

// hit opens the window or counts in it.
func (s store) hit(key string, period int) {
	if s.Number("EXISTS", key) == 0 {
		s.Do("SETEX", key, period, 1)
	} else {
		s.Do("INCR", key)
	}
}

func (s store) count(key string, limit, period int) bool {
	if s.Number("GET", key) >= limit {
		return false
	}
	s.hit(key, period)
	return true
}

func (s store) base(key string, base, limit, day, period int) bool {
	today := s.Number("GET", key)
	if today >= base && s.Number("GET", key+"_B") >= limit {
		return false
	}
	s.hit(key, day)
	if today+1 >= base {
		s.hit(key+"_B", period)
	}
	return true
}

func (s store) leak(key string, limit, period, now int) bool {
	hits := s.Number("LLEN", key)
	if hits > limit && now-s.Number("LINDEX", key, limit) < period {
		return false
	}
	for ; hits > limit+1; hits-- {
		s.Do("RPOP", key)
	}
	s.Do("LPUSH", key, now)
	s.Do("EXPIRE", key, 2*period)
	return true
}

func (s store) feedback(key string, n int) int {
	taken := 0
	for ; n > 0 && s.Do("LPOP", key) != nil; n-- {
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
	for i, value := range s.Do("MGET", arguments...).([]interface{}) {
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
	service.ServeJournaled(func(s service.Store, line string) interface{} {
		return store{s}.handle(line)
	})
}
