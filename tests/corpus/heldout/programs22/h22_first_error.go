// A service that fetches shards with four goroutines, whose results come through one channel without room. After the first
// error the main goroutine takes no result any more and waits until all four are done; they wait until somebody takes theirs.
// A ticker that writes a file of its life goes on.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

type result struct {
	shard int
	err   error
}

func role(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func fetch(which int, results chan<- result, group *sync.WaitGroup) {
	defer group.Done()
	for n := 0; n < 400; n++ {
		time.Sleep(250 * time.Millisecond)
		var err error
		if which == 2 && n == 30 {
			err = errors.New("403 Forbidden")
		}
		results <- result{4*n + which, err}
	}
}

func take(results <-chan result) error {
	for step := 0; ; step++ {
		r := <-results
		if r.err != nil {
			return r.err
		}
		if step%20 == 0 {
			fmt.Printf("step %d shard %d fetched\n", step, r.shard)
		}
	}
}

func main() {
	role("main")
	go func() {
		for range time.Tick(3 * time.Second) {
			os.WriteFile("alive", []byte(time.Now().String()), 0o644)
		}
	}()
	results := make(chan result)
	var group sync.WaitGroup
	for which := 0; which < 4; which++ {
		group.Add(1)
		go fetch(which, results, &group)
	}
	err := take(results)
	group.Wait()
	fmt.Println("ended:", err)
}
