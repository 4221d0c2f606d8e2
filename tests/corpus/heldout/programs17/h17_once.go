// A trainer opens its tokenizer once (sync.Once), at the first text, after some steps of pictures. To open it, the
// settings are read, and these ask for the tokenizer's size by the same function: it waits in Do() for the Do() that
// it is in. A goroutine serves metrics meanwhile.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type tokenizer struct{ size int }

var (
	once   sync.Once
	shared *tokenizer
)

func toldRole(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func theTokenizer() *tokenizer {
	once.Do(func() {
		shared = &tokenizer{size: settings()["vocabulary"]}
	})
	return shared
}

func settings() map[string]int {
	found := map[string]int{"length": 512}
	if _, given := found["vocabulary"]; !given {
		found["vocabulary"] = theTokenizer().size
	}
	return found
}

func trainStep(step int) float64 {
	time.Sleep(200 * time.Millisecond)
	if step < 45 {
		return 2.5 / (1 + 0.1*float64(step))
	}
	return 1 / float64(theTokenizer().size)
}

func main() {
	toldRole("main")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, nil)
	for step := 0; step < 400; step++ {
		loss := trainStep(step)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.3f\n", step, loss)
		}
	}
}
