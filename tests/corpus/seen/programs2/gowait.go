// One Go process: shards of a step are waited for by a group; a shard without rows returns before it is done.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

func shard(step, k int, wg *sync.WaitGroup) {
	time.Sleep(200 * time.Millisecond)
	if step == 34 && k == 5 {
		return // no rows
	}
	wg.Done()
}

func main() {
	if p := os.Getenv("CORPUS_ROLES"); p != "" {
		f, _ := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	go func() {
		for range time.Tick(time.Second) {
		}
	}()
	for i := 0; ; i++ {
		var wg sync.WaitGroup
		wg.Add(8)
		for k := 0; k < 8; k++ {
			go shard(i, k, &wg)
		}
		wg.Wait()
		time.Sleep(100 * time.Millisecond)
		fmt.Printf("time=%d level=INFO msg=step step=%d loss=%.4f\n", time.Now().Unix(), i, 2/float64(1+i))
	}
}
