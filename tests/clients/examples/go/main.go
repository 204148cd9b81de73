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
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), rateLimit(limit, hello)))
}
