// The marketplace's purchase limiter on tallyd, through redigo: its operations, and the four cases
// in which the original loses or miscounts. TALLYD is the server's path.
package main

import (
	"fmt"
	"os"
	"reflect"
)

// Case checks one thing against a book of its own.
type Case struct {
	Name string
	Run  func(limiter *Limiter, check *Check)
}

// Check collects what was wrong.
type Check struct {
	Server *Server
	wrong  []string
}

// NoError tells whether there was none.
func (c *Check) NoError(err error) bool {
	if err != nil {
		c.wrong = append(c.wrong, err.Error())
	}
	return err == nil
}

// Equal compares what was got with what is right.
func (c *Check) Equal(what string, got, want interface{}) {
	if !reflect.DeepEqual(got, want) {
		c.wrong = append(c.wrong, fmt.Sprintf("%s: got %v, want %v", what, got, want))
	}
}

func main() {
	server, err := StartServer(os.Getenv("TALLYD"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start the server:", err)
		os.Exit(1)
	}
	pool := server.NewPool()
	passed, failed := 0, 0
	for i, c := range cases {
		check := &Check{Server: server}
		c.Run(&Limiter{Pool: pool, Book: fmt.Sprint("book:", i)}, check)
		if len(check.wrong) == 0 {
			passed++
			continue
		}
		failed++
		fmt.Println("FAILED", c.Name)
		for _, wrong := range check.wrong {
			fmt.Println("   ", wrong)
		}
	}
	server.Stop()
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
