// Shards are checked by goroutines that send what is wrong into a channel of four places. Main waits for all
// of them before it reads the channel: there are more than four bad shards. A page of metrics stands beside.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func verify(shard int) error {
	time.Sleep(time.Duration(120+shard%7*20) * time.Millisecond)
	if shard%11 == 10 {
		return fmt.Errorf("shard-%05d.tar: checksum mismatch", shard)
	}
	return nil
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(l, nil)
	shards, bad := make(chan int), make(chan error, 4)
	var workers sync.WaitGroup
	for w := 0; w < 2; w++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for s := range shards {
				if err := verify(s); err != nil {
					bad <- err
				}
				if s%5 == 0 {
					fmt.Printf("step %d verified\n", s)
				}
			}
		}()
	}
	for s := 0; s < 200; s++ {
		shards <- s
	}
	close(shards)
	workers.Wait()
	close(bad)
	for err := range bad {
		fmt.Println(err)
	}
}
