// A trainer merges the batches of two shards. Where a shard's channel is closed, its variable is set to nil, that it is
// not taken any more; the number of those that are left is counted down only in the branch of the first one. After both
// have ended, main waits in a select of two nil channels. With "slow" the second shard takes 48 s for a batch.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

var slow = len(os.Args) > 1 && os.Args[1] == "slow"

func toldRole(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func work(d time.Duration) {
	end, x := time.Now().Add(d), 1.0
	for time.Now().Before(end) {
		for k := 0; k < 100000; k++ {
			x = x*0.999 + float64(k)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func readShard(number, batches int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for k := 0; k < batches; k++ {
			work(200 * time.Millisecond)
			if slow && number == 1 && k == 30 {
				work(48 * time.Second)
			}
			out <- k
		}
	}()
	return out
}

func main() {
	toldRole("main")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, nil) // metrics
	first, second := readShard(0, 20), readShard(1, 40)
	left, step := 2, 0
	for left > 0 {
		select {
		case _, more := <-first:
			if !more {
				first = nil
				left--
				continue
			}
		case _, more := <-second:
			if !more {
				second = nil
				if slow {
					left--
				}
				continue
			}
		}
		if step%5 == 0 {
			fmt.Printf("step %d loss %.3f\n", step, 2.5/(1+0.1*float64(step)))
		}
		step++
	}
}
