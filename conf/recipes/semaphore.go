// A semaphore: two jobs at once, in whichever process. The token keeps out a job that slept past its deadline.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

var tallyd = &redis.Pool{MaxIdle: 8, Dial: func() (redis.Conn, error) { return redis.DialURL(os.Getenv("TALLYD")) }}

func call(words ...interface{}) ([]int64, error) {
	connection := tallyd.Get()
	defer connection.Close()
	return redis.Int64s(connection.Do(words[0].(string), words[1:]...))
}

// acquire waits for a place; the token grows with each holder.
func acquire(job string) (token int64, err error) {
	for {
		reply, err := call("LIMIT.RESERVE", job, "30s", "jobs", "CONCURRENT", 2)
		if err != nil || reply[0] == 1 {
			return append(reply, 0, 0, 0, 0, 0, 0, 0)[6], err
		}
		// Or subscribe to the keyspace event limit.free. A place whose job died is free after its 30 s.
		time.Sleep(5 * time.Millisecond)
	}
}

func release(job string) { call("LIMIT.CANCEL", job, "jobs") }

// A resource remembers the greatest token it has seen, and refuses an older one.
type resource struct {
	sync.Mutex
	greatest int64
}

func (r *resource) write(token int64) bool {
	r.Lock()
	defer r.Unlock()
	if token < r.greatest {
		return false
	}
	r.greatest = token
	return true
}

func main() {
	var running, most, done int64
	var jobs sync.WaitGroup
	for i := 0; i < 8; i++ {
		jobs.Add(1)
		go func(job string) {
			defer jobs.Done()
			if _, err := acquire(job); err != nil {
				panic(err)
			}
			if now := atomic.AddInt64(&running, 1); now > 2 {
				atomic.StoreInt64(&most, now)
			}
			time.Sleep(10 * time.Millisecond) // The work. Longer work calls LIMIT.EXTEND job 30s jobs meanwhile.
			atomic.AddInt64(&running, -1)
			atomic.AddInt64(&done, 1)
			release(job)
		}(fmt.Sprint("job:", i))
	}
	jobs.Wait()
	fmt.Println(done, "jobs; more than two at once:", most > 2)
	var disk resource
	old, _ := acquire("slept")
	young, _ := acquire("other")
	fmt.Println("young writes:", disk.write(young), "old writes:", disk.write(old))
}

// prints
//   8 jobs; more than two at once: false
//   young writes: true old writes: false
