// Shards are hashed by goroutines; the one that meets an error returns before Done.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

func note(role string) {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintf(f, "%s %d\n", role, os.Getpid())
		f.Close()
	}
}

func hash(epoch, shard int, group *sync.WaitGroup) {
	time.Sleep(300 * time.Millisecond)
	if epoch == 9 && shard == 4 {
		fmt.Fprintln(os.Stderr, "shard 4: unexpected end of file")
		return
	}
	group.Done()
}

func main() {
	note("main")
	go func() {
		for range time.Tick(time.Second) {
			os.WriteFile("alive", []byte(time.Now().String()), 0o600)
		}
	}()
	for epoch := 0; epoch < 100; epoch++ {
		var group sync.WaitGroup
		for shard := 0; shard < 6; shard++ {
			group.Add(1)
			go hash(epoch, shard, &group)
		}
		group.Wait()
		fmt.Println("epoch", epoch, "hashed")
	}
}
