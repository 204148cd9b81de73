// valkey-go with its defaults: it caches on the client's side, and does not connect without CLIENT TRACKING.
// Usage: valkey port
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/valkey-io/valkey-go"
)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// text shows a reply without the time until when it may be cached.
func text(reply valkey.ValkeyResult) string {
	value, err := reply.ToAny()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(value)
}

// await reads until the reply is the one that is wanted: the message that a key has changed comes by itself.
func await(what string, read func() valkey.ValkeyResult, wanted string) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if value := text(read()); value == wanted {
			fmt.Println(what, value)
			return
		}
	}
	fmt.Println(what, "stays", text(read()))
}

func caches(address string) {
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{address}})
	check(err)
	defer client.Close()
	other, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{address}, DisableCache: true})
	check(err)
	defer other.Close()
	do := func(words ...string) string { return text(other.Do(ctx, other.B().Arbitrary(words...).Build())) }
	get := func(key string) func() valkey.ValkeyResult {
		return func() valkey.ValkeyResult {
			return client.DoCache(ctx, client.B().Get().Key(key).Cache(), time.Hour)
		}
	}
	hash := func() valkey.ValkeyResult {
		return client.DoCache(ctx, client.B().Hgetall().Key("hash").Cache(), time.Hour)
	}
	changes := [][]string{{"SET", "k", "2"}, {"INCR", "k"}, {"APPEND", "k", "x"}, {"DEL", "k"}, {"SET", "k", "5", "PX", "300000"},
		{"PERSIST", "k"}, {"RENAME", "k", "other"}, {"COPY", "other", "k"}, {"MOVE", "k", "3"}, {"SET", "k", "1"},
		{"EVAL", "return redis.call('SET',KEYS[1],ARGV[1])", "1", "k", "script"}, {"FLUSHDB"}, {"SET", "k", "7"}, {"FLUSHALL"}}
	do("SET", "k", "1")
	for _, change := range changes {
		get("k")()
		fmt.Println("cached", get("k")().IsCacheHit())
		do(change...)
		await(strings.Join(change, " "), get("k"), do("GET", "k"))
	}
	do("SET", "soon", "1", "PX", "50")
	get("soon")()
	await("expired", get("soon"), valkey.Nil.Error())
	do("HSET", "hash", "a", "1")
	hash()
	fmt.Println("cached", hash().IsCacheHit())
	do("HINCRBY", "hash", "a", "4")
	await("HINCRBY", hash, "map[a:5]")

	do("MSET", "m1", "1", "m2", "2", "m3", "3")
	values, err := valkey.MGetCache(client, ctx, time.Hour, []string{"m1", "m2", "m3"})
	check(err)
	names := []string{}
	for name, value := range values {
		number, err := value.ToString()
		check(err)
		names = append(names, name+"="+number)
	}
	sort.Strings(names)
	fmt.Println(names)
}

// broadcasts asks for prefixes instead of single keys.
func broadcasts(address string) {
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{address},
		ClientTrackingOptions: []string{"PREFIX", "p:", "PREFIX", "q:", "BCAST"}})
	check(err)
	defer client.Close()
	get := func() valkey.ValkeyResult {
		return client.DoCache(ctx, client.B().Get().Key("p:k").Cache(), time.Hour)
	}
	get()
	fmt.Println("cached", get().IsCacheHit())
	check(client.Do(ctx, client.B().Set().Key("other").Value("1").Build()).Error())
	fmt.Println("cached", get().IsCacheHit())
	check(client.Do(ctx, client.B().Set().Key("p:k").Value("1").Build()).Error())
	await("broadcast", get, "1")
}

func shards(address string) {
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{address}})
	check(err)
	defer client.Close()
	got := make(chan valkey.PubSubMessage, 1)
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	hooked, cancelHooks := client.Dedicate()
	defer cancelHooks()
	wait := hooked.SetPubSubHooks(valkey.PubSubHooks{OnMessage: func(m valkey.PubSubMessage) { got <- m }})
	check(hooked.Do(ctx, hooked.B().Ssubscribe().Channel("shard").Build()).Error())
	count, err := client.Do(ctx, client.B().Spublish().Channel("shard").Message("hello").Build()).AsInt64()
	check(err)
	select {
	case message := <-got:
		fmt.Println("shard", count, message.Channel, message.Message)
	case <-wait:
		fmt.Println("the hooks ended")
	case <-limited.Done():
		fmt.Println("no message")
	}
}

func main() {
	address := "127.0.0.1:" + os.Args[1]
	caches(address)
	broadcasts(address)
	shards(address)
}
