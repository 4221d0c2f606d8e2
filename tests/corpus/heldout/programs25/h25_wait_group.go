// Shards are converted, eight at a time, by a goroutine each; a WaitGroup tells when all eight are done. One shard is empty
// and its goroutine returns before it says so. A ticker for the rate of rows keeps the runtime from seeing it.
//
// slow: the empty shard is fetched anew, which takes 78 s.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var rows atomic.Int64

func convert(shard int, slow bool, done *sync.WaitGroup) {
	if shard == 800 {
		if !slow {
			return
		}
		time.Sleep(78 * time.Second)
	}
	time.Sleep(220 * time.Millisecond)
	rows.Add(1000)
	done.Done()
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	slow, steps := len(os.Args) > 1, 3000
	if slow {
		steps = 120
	}
	go func() {
		for range time.Tick(2 * time.Second) {
			rows.Load()
		}
	}()
	for step := 0; step < steps; step++ {
		var done sync.WaitGroup
		for k := 0; k < 8; k++ {
			done.Add(1)
			go convert(step*8+k, slow, &done)
		}
		done.Wait()
		if step%5 == 0 {
			fmt.Printf("step %d rows %d\n", step, rows.Load())
		}
	}
}
