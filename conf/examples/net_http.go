// Go's net/http: at most 100 requests a minute from each address. tallyd counts them.
// To use it: http.ListenAndServe("127.0.0.1:8080", rateLimit(100, mux))
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

// Without a decision: true lets the request pass, false answers 503.
var failOpen = os.Getenv("FAIL_OPEN") != "false"

// A decision is given up when tallyd takes longer than this, and is not tried again.
const patience = 50 * time.Millisecond

var tallyd = redis.NewClient(&redis.Options{Addr: os.Getenv("TALLYD"), // "" is localhost:6379.
	DialTimeout: patience, ReadTimeout: patience, PoolTimeout: patience, MaxRetries: -1})

func rateLimit(limit int, next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ip, _, _ := net.SplitHostPort(r.RemoteAddr)
		n, err := tallyd.Do(r.Context(), "LIMIT.TAKE", "web:"+ip, "SLIDING", limit, "1m").Int64Slice()
		if err != nil {
			log.Print("no decision: ", err)
		} else { // allowed, limit, remaining, retry after and reset after in ms, rule
			w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"web";q=%d;w=60`, n[1]))
			w.Header().Set("RateLimit", fmt.Sprintf(`"web";r=%d;t=%d`, n[2], (n[4]+999)/1000))
		}
		switch {
		case err == nil && n[0] == 1, err != nil && failOpen:
			next.ServeHTTP(w, r)
		case err != nil:
			http.Error(w, "try again later", http.StatusServiceUnavailable)
		default:
			w.Header().Set("Retry-After", fmt.Sprint((n[3]+999)/1000))
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		}
	}
}
