// A preparation in Go: for each batch of shards goroutines send their error or nil on a channel; the collector returns at the first error and
// then waits for the group, while the others still want to send on the unbuffered channel. A ticker draws a state for a terminal.
//
// slow: the channel has room for all; a shard is fetched for 68 s.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const stall = 24

var slow = len(os.Args) > 1 && os.Args[1] == "slow"

func note(role string) {
	path := os.Getenv("CORPUS_ROLES")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %d\n", role, os.Getpid())
}

func crunch(d time.Duration) float64 {
	end, x := time.Now().Add(d/8), 1.0
	for time.Now().Before(end) {
		for k := 0; k < 1000; k++ {
			x = x*0.999 + float64(k)
		}
	}
	time.Sleep(d - d/8)
	return x
}

func fetch(batch, shard int) error {
	crunch(time.Duration(400+60*shard) * time.Millisecond)
	if batch != stall {
		return nil
	}
	if slow && shard == 2 {
		for k := 0; k < 68; k++ {
			crunch(time.Second)
		}
	}
	if !slow && shard == 0 {
		return errors.New("shard 0: checksum is not as in the manifest")
	}
	return nil
}

func prepare(batch int) error {
	room := 0
	if slow {
		room = 4
	}
	results := make(chan error, room)
	var group sync.WaitGroup
	defer group.Wait()
	for shard := 0; shard < 4; shard++ {
		group.Add(1)
		go func(shard int) {
			defer group.Done()
			results <- fetch(batch, shard)
		}(shard)
	}
	for shard := 0; shard < 4; shard++ {
		if err := <-results; err != nil {
			return err
		}
	}
	return nil
}

func main() {
	note("main")
	done := make(chan bool)
	go func() {
		tick := time.NewTicker(5 * time.Second)
		for {
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	batches := 4000
	if slow {
		batches = stall + 6
	}
	for batch := 0; batch < batches; batch++ {
		if err := prepare(batch); err != nil {
			fmt.Println("skipping batch", batch, err)
			continue
		}
		crunch(400 * time.Millisecond)
		fmt.Printf("batch %d of %d prepared\n", batch, batches)
	}
	close(done)
}
