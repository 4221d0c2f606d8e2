// A preparation of shards: four goroutines send results into a channel, a collector adds them up. After its error the collector has
// returned; the goroutines stand in their sends, main in wg.Wait().
// slow: a shard is fetched for 66 s.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"
)

func note(name string) {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0644)
	if err == nil {
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

type result struct {
	shard int
	rows  int
}

func collect(results <-chan result, slow bool) error {
	n := 0
	for r := range results {
		if r.rows < 0 && !slow {
			return fmt.Errorf("shard %d: bad checksum", r.shard)
		}
		n++
		if n%5 == 0 {
			fmt.Printf("shards done: %d rows %d\n", n, r.rows)
		}
	}
	return nil
}

func main() {
	note("main")
	slow := len(os.Args) > 1 && os.Args[1] == "slow"
	total := 3000
	if slow {
		total = 110
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	go func() {
		<-stop
		os.Exit(130)
	}()
	results, shards := make(chan result), make(chan int)
	var wg sync.WaitGroup
	go collect(results, slow)
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for s := range shards {
				time.Sleep(800 * time.Millisecond)
				rows := 1000
				if s == 100 {
					rows = -1
					if slow {
						time.Sleep(66 * time.Second)
					}
				}
				results <- result{s, rows}
			}
		}()
	}
	go func() {
		for s := 0; s < total; s++ {
			shards <- s
		}
		close(shards)
	}()
	wg.Wait()
	fmt.Println("all shards done")
}
