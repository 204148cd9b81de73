// Package service is what the Go services of the suites share: redigo's pool, commands that are
// journaled as lib/crash_run.py reads them, and a loop over the requests on standard input.
package service

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"
)

// connectionLost is the status that a service ends with when its server has gone.
const connectionLost = 75

// NewPool gives connections to the server that the arguments name by port and password.
func NewPool() *redis.Pool {
	address, password := "127.0.0.1:"+os.Args[1], os.Args[2]
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

// Print writes a value as a line of JSON.
func Print(value interface{}) {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

// ForEachLine calls handle with each line of standard input.
func ForEachLine(handle func(line string)) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		handle(lines.Text())
	}
}

// Ask sends a command. It ends the process with the connection, after telling lost of it.
func Ask(conn redis.Conn, lost func(), name string, arguments ...interface{}) interface{} {
	reply, err := conn.Do(name, arguments...)
	if _, refused := err.(redis.Error); refused {
		panic(err)
	}
	if err != nil {
		lost()
		os.Exit(connectionLost)
	}
	return reply
}

// Store is one borrowed connection that journals each command.
type Store struct{ conn redis.Conn }

// Do sends a command and ends the process with the connection.
func (s Store) Do(name string, arguments ...interface{}) interface{} {
	sent := []interface{}{name}
	for _, argument := range arguments {
		if bytes, ok := argument.([]byte); ok {
			argument = string(bytes)
		}
		sent = append(sent, fmt.Sprint(argument))
	}
	from := time.Now().UnixMilli()
	reply := Ask(s.conn, func() { journalLost(sent, from) }, name, sent[1:]...)
	Print(map[string]interface{}{
		"sent": encode(sent), "from": from, "at": time.Now().UnixMilli(), "got": encode(reply)})
	return reply
}

// Number is a reply as a number, 0 for null.
func (s Store) Number(name string, arguments ...interface{}) int {
	n, err := redis.Int(s.Do(name, arguments...), nil)
	if err == redis.ErrNil {
		return 0
	}
	if err != nil {
		panic(err)
	}
	return n
}

// ServeJournaled answers each request with what handle returns, on a connection borrowed for it.
func ServeJournaled(handle func(store Store, line string) interface{}) {
	pool := NewPool()
	defer pool.Close()
	ForEachLine(func(line string) {
		conn := pool.Get()
		if err := conn.Err(); err != nil {
			journalLost([]interface{}{}, time.Now().UnixMilli())
			os.Exit(connectionLost)
		}
		Print(map[string]interface{}{"answer": handle(Store{conn}, line)})
		conn.Close()
	})
}

func journalLost(sent []interface{}, from int64) {
	Print(map[string]interface{}{"lost": encode(sent), "from": from})
}

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
