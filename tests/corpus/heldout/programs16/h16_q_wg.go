// A loader in Go waits for two goroutines that hash the shards of an epoch for 50 s.
package main

import (
	"crypto/sha256"
	"fmt"
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

func hash(wg *sync.WaitGroup, until time.Time) {
	defer wg.Done()
	block := make([]byte, 1<<20)
	for time.Now().Before(until) {
		sum := sha256.Sum256(block)
		copy(block, sum[:])
	}
}

func main() {
	toldRole("main")
	for step := 0; step < 50; step++ {
		time.Sleep(200 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d\n", step)
		}
		if step == 30 {
			var wg sync.WaitGroup
			wg.Add(2)
			until := time.Now().Add(50 * time.Second)
			go hash(&wg, until)
			go hash(&wg, until)
			wg.Wait()
		}
	}
	fmt.Println("done")
}
