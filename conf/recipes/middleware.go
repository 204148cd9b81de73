// A middleware: 100 a minute for an address, 20 for a user, 1,000 a second for the service, all or nothing.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

var tallyd = &redis.Pool{MaxIdle: 16, Dial: func() (redis.Conn, error) {
	return redis.DialURL(os.Getenv("TALLYD"), redis.DialReadTimeout(time.Second))
}}

var names = []string{"", "address", "user", "service"} // by the place of the rule

// limited takes from all three keys in one step: who is denied by one has used nothing of the others.
func limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := tallyd.Get()
		defer connection.Close()
		address, _, _ := net.SplitHostPort(r.RemoteAddr)
		reply, err := redis.Int64s(connection.Do("LIMIT.TAKE", "web:"+address, "SLIDING", 100, "1m",
			"AND", "user:"+r.Header.Get("X-User"), "SLIDING", 20, "1m", "AND", "service", "BUCKET", 1000, 1000, "1s"))
		if err != nil {
			log.Print("no decision: ", err) // and lets it pass; http.Error(w, "", 503) refuses it
		} else if reply[0] == 0 {
			if reply[3] >= 0 { // -1: no wait would help
				w.Header().Set("Retry-After", strconv.FormatInt((reply[3]+999)/1000, 10))
			}
			http.Error(w, "too many requests of this "+names[reply[5]], http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func main() {
	service := limited(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") }))
	ask := func(user string, times int) {
		var last *httptest.ResponseRecorder
		statuses := map[int]int{}
		for i := 0; i < times; i++ {
			request := httptest.NewRequest("GET", "/", nil)
			request.Header.Set("X-User", user)
			last = httptest.NewRecorder()
			service.ServeHTTP(last, request)
			statuses[last.Code]++
		}
		fmt.Print(user, ": ", statuses, " ", last.Body)
	}
	ask("ann", 25)
	ask("bob", 3)
}

// prints
//   ann: map[200:20 429:5] too many requests of this user
//   bob: map[200:3] hello
