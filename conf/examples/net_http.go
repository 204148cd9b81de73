// At most 100 requests a minute: if s := rateLimit(w, r, 100); s == 200 { mux.ServeHTTP(w, r) } else { w.WriteHeader(s) }
package main

import (
	"fmt"
	"github.com/redis/go-redis/v9"
	"log"
	"net"
	"net/http"
)
var withoutDecision = 200 // 200 lets the request pass (fail open), 503 refuses it (fail closed).
var tallyd = redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379", MaxRetries: -1,
	DialTimeout: 50e6, ReadTimeout: 50e6, PoolTimeout: 50e6}) // Given up after 50 ms, in ns.
func rateLimit(w http.ResponseWriter, r *http.Request, limit int) int {
	ip, _, _ := net.SplitHostPort(r.RemoteAddr)
	n, err := tallyd.Do(r.Context(), "LIMIT.TAKE", "web:"+ip, "SLIDING", limit, "1m").Int64Slice()
	if err != nil {
		log.Print("no decision: ", err)
		return withoutDecision
	}
	w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"web";q=%d;w=60`, n[1]))
	w.Header().Set("RateLimit", fmt.Sprintf(`"web";r=%d;t=%d`, n[2], (n[4]+999)/1000))
	if n[0] == 1 {
		return 200
	}
	if n[3] >= 0 { // -1: no wait would help
		w.Header().Set("Retry-After", fmt.Sprint((n[3]+999)/1000))
	}
	return 429
}
