// Shards are embedded by four goroutines, which send what they have to a channel without room. The collector returns at the
// first error; the goroutines stand in their sends, and main waits for all of them. Beside it runs a server of metrics.
//
// slow: there is no error; a shard takes 65 s.
package main

import (
	"fmt"
	"net"
	"net/http"
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

func main() {
	role("main")
	slow := len(os.Args) > 1 && os.Args[1] == "slow"
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(door, nil)
	shards, results := make(chan int), make(chan result)
	var all sync.WaitGroup
	for w := 0; w < 4; w++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for shard := range shards {
				time.Sleep(400 * time.Millisecond)
				r := result{shard: shard}
				if shard == 200 {
					if slow {
						time.Sleep(65 * time.Second)
					} else {
						r.err = fmt.Errorf("shard %d: unexpected EOF", shard)
					}
				}
				results <- r
			}
		}()
	}
	go func() {
		last := 100000
		if slow {
			last = 230
		}
		for shard := 0; shard < last; shard++ {
			shards <- shard
		}
		close(shards)
	}()
	collect := make(chan error)
	go func() {
		for r := range results {
			if r.err != nil {
				collect <- r.err
				return
			}
			if r.shard%20 == 0 {
				fmt.Printf("embedded %d shards\n", r.shard)
			}
		}
		collect <- nil
	}()
	if slow {
		go func() { all.Wait(); close(results) }()
	}
	err := <-collect
	all.Wait()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
