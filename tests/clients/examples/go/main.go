// One page behind the example's limit.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
)

func main() {
	limit, err := strconv.Atoi(os.Getenv("LIMIT"))
	if err != nil {
		log.Fatal(err)
	}
	tallyd.Options().Addr = os.Getenv("TALLYD")
	if os.Getenv("FAIL_OPEN") == "false" {
		withoutDecision = http.StatusServiceUnavailable
	}
	page := func(w http.ResponseWriter, r *http.Request) {
		if status := rateLimit(w, r, limit); status == 200 {
			fmt.Fprint(w, "hello")
		} else {
			w.WriteHeader(status)
		}
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(page)))
}
