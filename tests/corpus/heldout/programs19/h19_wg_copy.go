// A trainer has shards read by goroutines, to which it hands its WaitGroup as a value: each says Done to a copy of its
// own, and main waits for a count of four that stays. A goroutine notes each minute that the process is alive.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

func role(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func readShard(shard int, sums []float64, wg sync.WaitGroup) {
	defer wg.Done()
	for k := 0; k < 10; k++ {
		time.Sleep(50 * time.Millisecond)
		sums[shard] += float64(k)
	}
}

func alive() {
	for range time.Tick(time.Minute) {
		os.WriteFile("alive", []byte(time.Now().String()), 0644)
	}
}

func nextStage() float64 {
	var wg sync.WaitGroup
	sums := make([]float64, 4)
	for shard := range sums {
		wg.Add(1)
		go readShard(shard, sums, wg)
	}
	wg.Wait()
	return sums[0] + sums[1] + sums[2] + sums[3]
}

func main() {
	role("main")
	go alive()
	for step := 0; step < 400; step++ {
		time.Sleep(200 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2.5/(1+0.1*float64(step)))
		}
		if step == 40 {
			nextStage()
		}
	}
}
