// A worker pool that waits for a slow ticker, 34 s, and a WaitGroup behind it.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

func main() {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(f, "main", os.Getpid())
		f.Close()
	}
	jobs := make(chan int)
	var all sync.WaitGroup
	for k := 0; k < 4; k++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := range jobs {
				fmt.Println("compacted", j)
			}
		}()
	}
	due := time.NewTicker(34 * time.Second)
	jobs <- 0
	for n := 1; n < 3; n++ {
		<-due.C
		jobs <- n
	}
	close(jobs)
	all.Wait()
}
