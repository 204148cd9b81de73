// The marketplace's limiter against one server: how many calls a second of 50 customers at a time it
// answers, either as it was first written (msgpack in hashes, read, decoded, computed and written
// here), or with the server's quota commands.
//
// Usage: limiter port original|quota users purchases seconds
//
// Prints two numbers: LEFT of 3 SKUs a second, and orders of 2 or 3 SKUs a second.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
	"purchases"
)

const (
	customers = 50
	window    = 30 * 86400
	// Of each user: purchases are of these SKUs, so that a SKU comes up again.
	skusOfUser = 8
	skus       = 60_000
)

// system is one way to keep limits and purchases.
type system interface {
	setLimit(sku int64)
	left(user int64, skus []int64)
	buy(user, order int64, skus []int64)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

type store struct{ conn redis.Conn }

func (s store) do(name string, arguments ...interface{}) interface{} {
	reply, err := s.conn.Do(name, arguments...)
	must(err)
	return reply
}

type quota struct{ store }

func (q quota) setLimit(sku int64) { q.do("QUOTA.SETLIMIT", "book", sku, 0, 2, "30d") }

func (q quota) left(user int64, skus []int64) {
	q.do("QUOTA.LEFT", redis.Args{"book", user}.AddFlat(skus)...)
}

func (q quota) buy(user, order int64, skus []int64) {
	arguments := redis.Args{"book", user, order, "ITEMS"}
	for _, sku := range skus {
		arguments = arguments.Add(sku, 0, 1)
	}
	// As the original does: whatever the limits say.
	q.do("QUOTA.RECORD", arguments...)
}

type original struct{ store }

func (o original) setLimit(sku int64) {
	o.do("HSET", -sku, 0, purchases.Pack(purchases.Limit{Limit: 2, Sec: window, Datestart: time.Now().Unix()}))
}

func (o original) left(user int64, skus []int64) {
	for _, sku := range skus {
		pairs := o.do("HGETALL", -sku).([]interface{})
		records := o.records(user, sku)
		for i := 0; i < len(pairs); i += 2 {
			var one purchases.Limit
			purchases.Unpack(pairs[i+1], &one)
			for _, bought := range records {
				one.Limit -= bought.Qty
			}
		}
	}
}

func (o original) buy(user, order int64, skus []int64) {
	for _, sku := range skus {
		var one purchases.Limit
		purchases.Unpack(o.do("HGET", -sku, 0), &one)
		kill := time.Now().Unix() + one.Sec
		bought := purchases.Record{Qty: 1, DateKill: kill, OrderID: order}
		o.do("HSET", user, sku, purchases.Pack(append(o.records(user, sku), bought)))
		ttl, err := redis.Int64(o.do("TTL", user), nil)
		must(err)
		if time.Now().Unix()+ttl < kill {
			o.do("EXPIREAT", user, kill)
		}
	}
}

// records are the purchases that still count.
func (o original) records(user, sku int64) []purchases.Record {
	return purchases.Counting(o.do("HGET", user, sku), time.Now().Unix())
}

func connect(port, way string) system {
	conn, err := redis.Dial("tcp", "127.0.0.1:"+port)
	must(err)
	if way == "quota" {
		return quota{store{conn}}
	}
	return original{store{conn}}
}

func skusOf(user int64, dice *rand.Rand, count int) []int64 {
	chosen := make([]int64, 0, count)
	for _, place := range dice.Perm(skusOfUser)[:count] {
		chosen = append(chosen, (user*7919+int64(place)*104_729)%skus+1)
	}
	return chosen
}

// run has all customers call until `done` says so, and returns the calls a second.
func run(port, way string, call func(s system, dice *rand.Rand), done func(calls int, since time.Time) bool) float64 {
	begin := time.Now()
	var all sync.WaitGroup
	counts := make([]int, customers)
	for i := range counts {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			s, dice := connect(port, way), rand.New(rand.NewSource(int64(i)))
			for !done(counts[i], begin) {
				call(s, dice)
				counts[i]++
			}
		}(i)
	}
	all.Wait()
	sum := 0
	for _, count := range counts {
		sum += count
	}
	return float64(sum) / time.Since(begin).Seconds()
}

func main() {
	number := func(i int) int64 {
		value, err := strconv.ParseInt(os.Args[i], 10, 64)
		must(err)
		return value
	}
	port, way, users, bought := os.Args[1], os.Args[2], number(3), number(4)
	seconds := time.Duration(number(5)) * time.Second
	setup := connect(port, way)
	for sku := int64(1); sku <= skus; sku++ {
		setup.setLimit(sku)
	}
	buy := func(s system, dice *rand.Rand) {
		user := dice.Int63n(users) + 1
		s.buy(user, dice.Int63n(1<<40)+1, skusOf(user, dice, 2+dice.Intn(2)))
	}
	left := func(s system, dice *rand.Rand) {
		user := dice.Int63n(users) + 1
		s.left(user, skusOf(user, dice, 3))
	}
	each := int(bought) * 2 / 5 / customers // an order is of 2.5 purchases
	run(port, way, buy, func(calls int, _ time.Time) bool { return calls >= each })
	while := func(_ int, since time.Time) bool { return time.Since(since) >= seconds }
	fmt.Println(run(port, way, left, while), run(port, way, buy, while))
}
