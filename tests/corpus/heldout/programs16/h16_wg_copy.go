// A loader of shards in Go: each epoch reads four shards side by side. The new reader of the third epoch takes the
// WaitGroup as a value, not as a pointer: it counts down a copy, and main waits for ever. A page of metrics is served
// all the time.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func toldRole(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func readShard(wg *sync.WaitGroup, shard int) {
	defer wg.Done()
	time.Sleep(time.Duration(200+shard*20) * time.Millisecond)
}

func readCompressed(wg sync.WaitGroup, shard int) {
	defer wg.Done()
	time.Sleep(time.Duration(300+shard*20) * time.Millisecond)
}

func main() {
	toldRole("main")
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(door, nil)
	for epoch := 0; epoch < 6; epoch++ {
		var wg sync.WaitGroup
		for shard := 0; shard < 4; shard++ {
			wg.Add(1)
			if epoch < 2 {
				go readShard(&wg, shard)
			} else {
				go readCompressed(wg, shard)
			}
		}
		wg.Wait()
		for step := 0; step < 10; step++ {
			time.Sleep(450 * time.Millisecond)
			if step%2 == 0 {
				fmt.Printf("step %d\n", epoch*10+step)
			}
		}
	}
}
