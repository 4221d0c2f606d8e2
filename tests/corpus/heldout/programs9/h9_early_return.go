// Eight goroutines fetch parts and hand their results over a channel. The one that collects gives up at the first error, and then all are
// waited for.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

type part struct {
	id  int
	err error
}

func role(name string) {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func collect(results chan part) error {
	for k := 0; k < 64; k++ {
		p := <-results
		if p.err != nil {
			return p.err
		}
		fmt.Println("part", p.id, "is here")
	}
	return nil
}

func main() {
	role("main")
	go http.ListenAndServe("127.0.0.1:0", nil) // what a profiler asks
	results := make(chan part)
	var all sync.WaitGroup
	for w := 0; w < 8; w++ {
		all.Add(1)
		go func(w int) {
			defer all.Done()
			for k := w; k < 64; k += 8 {
				time.Sleep(700 * time.Millisecond)
				var err error
				if k == 37 {
					err = errors.New("checksum of part 37 is wrong")
				}
				results <- part{k, err}
			}
		}(w)
	}
	if err := collect(results); err != nil {
		fmt.Println("stopping:", err)
	}
	all.Wait()
	fmt.Println("cleaned up")
}
