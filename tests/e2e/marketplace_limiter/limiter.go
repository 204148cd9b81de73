// Two per customer: a marketplace's purchase limiter as it was first written, with its records as
// msgpack in hashes: of each SKU the limits by action, of each user the purchases by SKU.
//
// Usage: limiter port password <requests >journal
//
//	limit sku action count seconds now      unlimit sku action...
//	buy user order now {sku action qty}...  return user order now {sku qty}...
//	left user now sku...                    of each SKU [action, what is left]...
//	reset user now [action...]              forget user...
//	skus user | limits sku | records user   what is stored
//
// Numbers are decimal, times unix seconds. The journal is that of lib/crash_run.py.
package main

import (
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"purchases"
	"service"
)

const defaultWindow = 30 * 86400

// everyAction is the action that all purchases count for.
const everyAction = 0

type limiter struct{ service.Store }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// limits are those of a SKU, by action.
func (l limiter) limits(sku int64) map[int64]purchases.Limit {
	found := map[int64]purchases.Limit{}
	pairs := l.Do("hgetall", -sku).([]interface{})
	for i := 0; i < len(pairs); i += 2 {
		action, err := redis.Int64(pairs[i], nil)
		must(err)
		var one purchases.Limit
		purchases.Unpack(pairs[i+1], &one)
		found[action] = one
	}
	return found
}

// records are the purchases that still count.
func (l limiter) records(user, sku, now int64) []purchases.Record {
	return purchases.Counting(l.Do("hget", user, sku), now)
}

func (l limiter) store(user, sku int64, records []purchases.Record) {
	if len(records) == 0 {
		l.Do("hdel", user, sku)
	} else {
		l.Do("hset", user, sku, purchases.Pack(records))
	}
}

func (l limiter) window(sku, action int64) int64 {
	for _, asked := range []int64{action, everyAction} {
		if packed := l.Do("hget", -sku, asked); packed != nil {
			var one purchases.Limit
			purchases.Unpack(packed, &one)
			return one.Sec
		}
	}
	return defaultWindow
}

func (l limiter) buy(user, order, now int64, lines []int64) interface{} {
	for i := 0; i < len(lines); i += 3 {
		sku, action, qty := lines[i], lines[i+1], lines[i+2]
		kill := now + l.window(sku, action)
		bought := purchases.Record{Action: action, Qty: qty, DateKill: kill, OrderID: order}
		l.store(user, sku, append(l.records(user, sku, now), bought))
		if time.Now().Unix()+int64(l.Number("ttl", user)) < kill {
			l.Do("expireat", user, kill)
		}
	}
	return nil
}

// giveBack tells what of each line was credited.
func (l limiter) giveBack(user, order, now int64, lines []int64) []int64 {
	credited := []int64{}
	for i := 0; i < len(lines); i += 2 {
		sku, left := lines[i], lines[i+1]
		var kept []purchases.Record
		for _, one := range l.records(user, sku, now) {
			if one.OrderID == order {
				taken := one.Qty
				if taken > left {
					taken = left
				}
				one.Qty -= taken
				left -= taken
			}
			if one.Qty > 0 {
				kept = append(kept, one)
			}
		}
		l.store(user, sku, kept)
		credited = append(credited, lines[i+1]-left)
	}
	return credited
}

func (l limiter) left(user, now int64, skus []int64) interface{} {
	answer := [][][2]int64{}
	for _, sku := range skus {
		limits, records := l.limits(sku), l.records(user, sku, now)
		left := [][2]int64{}
		for action, limit := range limits {
			for _, one := range records {
				if action == everyAction || one.Action == action {
					limit.Limit -= one.Qty
				}
			}
			left = append(left, [2]int64{action, limit.Limit})
		}
		if len(left) == 0 {
			left = append(left, [2]int64{everyAction, -1})
		}
		sort.Slice(left, func(i, j int) bool { return left[i][0] < left[j][0] })
		answer = append(answer, left)
	}
	return answer
}

func (l limiter) skus(user int64) []int64 {
	skus, err := redis.Int64s(l.Do("hkeys", user), nil)
	must(err)
	sort.Slice(skus, func(i, j int) bool { return skus[i] < skus[j] })
	return skus
}

func (l limiter) reset(user, now int64, actions []int64) interface{} {
	for _, sku := range l.skus(user) {
		var kept []purchases.Record
		for _, one := range l.records(user, sku, now) {
			forgotten := len(actions) == 0
			for _, action := range actions {
				forgotten = forgotten || one.Action == action
			}
			if !forgotten {
				kept = append(kept, one)
			}
		}
		l.store(user, sku, kept)
	}
	return nil
}

func (l limiter) stored(user int64) interface{} {
	answer := [][5]int64{}
	for _, sku := range l.skus(user) {
		for _, one := range l.records(user, sku, 0) {
			answer = append(answer, [5]int64{sku, one.Action, one.Qty, one.DateKill, one.OrderID})
		}
	}
	return answer
}

func (l limiter) storedLimits(sku int64) interface{} {
	answer := [][3]int64{}
	for action, one := range l.limits(sku) {
		answer = append(answer, [3]int64{action, one.Limit, one.Sec})
	}
	return answer
}

func (l limiter) handle(line string) interface{} {
	words := strings.Fields(line)
	n := make([]int64, len(words)-1)
	arguments := redis.Args{}
	for i, word := range words[1:] {
		number, err := strconv.ParseInt(word, 10, 64)
		must(err)
		n[i] = number
		arguments = arguments.Add(number)
	}
	switch words[0] {
	case "limit":
		return l.Do("hset", -n[0], n[1], purchases.Pack(purchases.Limit{Limit: n[2], Sec: n[3], Datestart: n[4]}))
	case "unlimit":
		return l.Do("hdel", append(redis.Args{-n[0]}, arguments[1:]...)...)
	case "buy":
		return l.buy(n[0], n[1], n[2], n[3:])
	case "return":
		return l.giveBack(n[0], n[1], n[2], n[3:])
	case "left":
		return l.left(n[0], n[1], n[2:])
	case "reset":
		return l.reset(n[0], n[1], n[2:])
	case "forget":
		l.Do("del", arguments...)
		return nil
	case "skus":
		return l.skus(n[0])
	case "limits":
		return l.storedLimits(n[0])
	case "records":
		return l.stored(n[0])
	}
	panic("no such request: " + line)
}

func main() {
	service.ServeJournaled(func(store service.Store, line string) interface{} {
		return limiter{store}.handle(line)
	})
}
