// The steps with go-redis. Usage: go_redis port protocol-or-- step...
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

var background = context.Background()

type client struct {
	*redis.Client
	port, protocol string
}

func connect(port, protocol string, database int) client {
	options := &redis.Options{Addr: "127.0.0.1:" + port, DB: database}
	if protocol != "-" {
		options.Protocol, _ = strconv.Atoi(protocol)
	}
	return client{redis.NewClient(options), port, protocol}
}

// show prints commands with their replies or errors; go-redis formats both.
func show(commands ...redis.Cmder) {
	for _, command := range commands {
		fmt.Printf("%q\n", command.String())
	}
}

// showAbout100 prints whether a time to live of 100 s is still about that.
func showAbout100(command *redis.DurationCmd) {
	ttl, err := command.Result()
	fmt.Println(command.Name(), ttl > 50*time.Second && ttl <= 100*time.Second, err)
}

func (c client) strings() {
	show(c.Ping(background), c.Echo(background, "hello"))
	show(c.Set(background, "s", "value", 0), c.Get(background, "s"), c.Get(background, "none"))
	show(c.SetNX(background, "s", "other", 0), c.Append(background, "s", "!"), c.StrLen(background, "s"))
	show(c.Set(background, "\x00\r\n\xff$", "\x00\r\n\xff$", 0), c.Get(background, "\x00\r\n\xff$"))
	show(c.MSet(background, "a", 1, "b", 2), c.MGet(background, "a", "none", "b"))
}

func (c client) counters() {
	show(c.Incr(background, "n"), c.IncrBy(background, "n", 41), c.Decr(background, "n"))
	show(c.IncrByFloat(background, "f", 1.5), c.Incr(background, "s"))
	show(c.Do(background, "INCR"), c.Do(background, "NOSUCH", "a"))
}

func (c client) expiry() {
	show(c.SetEx(background, "e", 1, 100*time.Second))
	showAbout100(c.TTL(background, "e"))
	show(c.Persist(background, "e"), c.TTL(background, "e"), c.TTL(background, "none"))
	show(c.Expire(background, "e", 100*time.Second))
	showAbout100(c.PTTL(background, "e"))
	show(c.Expire(background, "none", 100*time.Second))
}

func (c client) lists() {
	show(c.RPush(background, "l", 1, 2, "three"), c.LPush(background, "l", 0), c.LLen(background, "l"))
	show(c.LRange(background, "l", 0, -1), c.LIndex(background, "l", 2), c.LIndex(background, "l", 9))
	show(c.LPop(background, "l"), c.RPop(background, "l"), c.LPop(background, "none"))
	show(c.LPush(background, "s", 1))
}

func (c client) keys() {
	show(c.Exists(background, "l", "s", "none"), c.Type(background, "l"), c.Type(background, "none"))
	var found []string
	keys := c.Scan(background, 0, "[ab]", 0).Iterator()
	for keys.Next(background) {
		found = append(found, keys.Val())
	}
	sort.Strings(found)
	fmt.Println(found, keys.Err())
	show(c.Del(background, "a", "b", "none"))
}

func (c client) pipeline() {
	commands, err := c.Pipelined(background, func(pipe redis.Pipeliner) error {
		for i := 0; i < 100; i++ {
			pipe.Incr(background, "p")
		}
		return nil
	})
	show(commands...)
	fmt.Println(err)
}

func (c client) databases() {
	other := connect(c.port, c.protocol, 3)
	show(other.Set(background, "only in 3", "x", 0), c.Get(background, "only in 3"), other.DBSize(background))
	other.Close()
}

func (c client) transaction() {
	commands, err := c.TxPipelined(background, func(pipe redis.Pipeliner) error {
		pipe.Incr(background, "t")
		pipe.RPush(background, "tl", "x")
		pipe.Get(background, "none")
		pipe.LRange(background, "tl", 0, -1)
		return nil
	})
	show(commands...)
	fmt.Println(err)
}

func (c client) limit() {
	through := 0
	for i := 0; i < 3; i++ {
		reply, err := c.Do(background, "LIMIT.TAKE", "door", "FIXED", 1, "1h").Int64Slice()
		if err != nil {
			panic(err)
		}
		if reply[0] == 1 {
			through++
		}
	}
	fmt.Println("let through:", through)
}

func main() {
	c := connect(os.Args[1], os.Args[2], 0)
	defer c.Close()
	steps := map[string]func(){
		"strings": c.strings, "counters": c.counters, "expiry": c.expiry, "lists": c.lists,
		"keys": c.keys, "pipeline": c.pipeline, "databases": c.databases, "transaction": c.transaction,
		"limit": c.limit,
	}
	for _, step := range os.Args[3:] {
		steps[step]()
	}
}
