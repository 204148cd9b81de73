// The steps with redigo. Usage: redigo port step...
package main

import (
	"fmt"
	"os"

	"github.com/gomodule/redigo/redis"
)

type client struct {
	conn redis.Conn
	port string
}

// show prints the reply of one command, or its error reply.
func (c client) show(name string, arguments ...interface{}) {
	reply, err := c.conn.Do(name, arguments...)
	fmt.Printf("%s %q: %q %T %v\n", name, arguments, reply, reply, err)
}

// showAbout100 prints whether a time to live of 100 s is still about that.
func (c client) showAbout100(name, key string, unit int) {
	ttl, err := redis.Int(c.conn.Do(name, key))
	fmt.Println(name, ttl/unit > 50 && ttl/unit <= 100, err)
}

func dial(port string, database int) redis.Conn {
	conn, err := redis.Dial("tcp", "127.0.0.1:"+port, redis.DialDatabase(database))
	if err != nil {
		panic(err)
	}
	return conn
}

func (c client) strings() {
	c.show("PING")
	c.show("ECHO", "hello")
	c.show("SET", "s", "value")
	c.show("GET", "s")
	c.show("GET", "none")
	c.show("SET", "s", "other", "NX")
	c.show("APPEND", "s", "!")
	c.show("STRLEN", "s")
	c.show("SET", "\x00\r\n\xff$", "\x00\r\n\xff$")
	c.show("GET", "\x00\r\n\xff$")
	c.show("MSET", "a", 1, "b", 2)
	c.show("MGET", "a", "none", "b")
}

func (c client) counters() {
	c.show("INCR", "n")
	c.show("INCRBY", "n", 41)
	c.show("DECR", "n")
	c.show("INCRBYFLOAT", "f", 1.5)
	c.show("INCR", "s")
	c.show("INCR")
	c.show("NOSUCH", "a")
}

func (c client) expiry() {
	c.show("SETEX", "e", 100, 1)
	c.showAbout100("TTL", "e", 1)
	c.show("PERSIST", "e")
	c.show("TTL", "e")
	c.show("TTL", "none")
	c.show("EXPIRE", "e", 100)
	c.showAbout100("PTTL", "e", 1000)
	c.show("EXPIRE", "none", 100)
}

func (c client) lists() {
	c.show("RPUSH", "l", 1, 2, "three")
	c.show("LPUSH", "l", 0)
	c.show("LLEN", "l")
	c.show("LRANGE", "l", 0, -1)
	c.show("LINDEX", "l", 2)
	c.show("LINDEX", "l", 9)
	c.show("LPOP", "l")
	c.show("RPOP", "l")
	c.show("LPOP", "none")
	c.show("LPUSH", "s", 1)
}

func (c client) keys() {
	c.show("EXISTS", "l", "s", "none")
	c.show("TYPE", "l")
	c.show("TYPE", "none")
	c.show("SCAN", 0, "MATCH", "[a]", "COUNT", 1000)
	c.show("DEL", "a", "b", "none")
}

func (c client) pipeline() {
	for i := 0; i < 100; i++ {
		if err := c.conn.Send("INCR", "p"); err != nil {
			panic(err)
		}
	}
	replies, err := c.conn.Do("")
	fmt.Println("pipeline", replies, err)
}

func (c client) databases() {
	other := client{dial(c.port, 3), c.port}
	other.show("SET", "only in 3", "x")
	c.show("GET", "only in 3")
	other.show("DBSIZE")
	other.conn.Close()
}

func (c client) transaction() {
	c.show("MULTI")
	c.show("INCR", "t")
	c.show("RPUSH", "tl", "x")
	c.show("GET", "none")
	c.show("LRANGE", "tl", 0, -1)
	c.show("EXEC")
}

func (c client) limit() {
	through := 0
	for i := 0; i < 3; i++ {
		reply, err := redis.Int64s(c.conn.Do("LIMIT.TAKE", "door", "FIXED", 1, "1h"))
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
	c := client{dial(os.Args[1], 0), os.Args[1]}
	defer c.conn.Close()
	steps := map[string]func(){
		"strings": c.strings, "counters": c.counters, "expiry": c.expiry, "lists": c.lists,
		"keys": c.keys, "pipeline": c.pipeline, "databases": c.databases, "transaction": c.transaction,
		"limit": c.limit,
	}
	for _, step := range os.Args[2:] {
		steps[step]()
	}
}
