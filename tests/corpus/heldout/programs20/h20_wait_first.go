// A trainer evaluates with four goroutines, which send their scores by a channel that has room for two. Main waits for
// the group before it reads the scores. A small server of metrics runs beside it.
// With "slow" there is room for all of them, and one takes 48 s.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

func role(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintln(f, name, os.Getpid())
		f.Close()
	}
}

func metrics() {
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	for {
		link, err := door.Accept()
		if err == nil {
			fmt.Fprintln(link, "up 1")
			link.Close()
		}
	}
}

func evaluate(folds, room int, slow bool) float64 {
	var group sync.WaitGroup
	scores := make(chan float64, room)
	for k := 0; k < folds; k++ {
		group.Add(1)
		go func(k int) {
			defer group.Done()
			pause := 300 * time.Millisecond
			if slow && k == 2 {
				pause = 48 * time.Second
			}
			time.Sleep(pause)
			scores <- 0.9 + float64(k)/100
		}(k)
	}
	group.Wait()
	close(scores)
	sum := 0.0
	for score := range scores {
		sum += score
	}
	return sum / float64(folds)
}

func main() {
	role("main")
	slow := len(os.Args) > 1 && os.Args[1] == "slow"
	go metrics()
	room := 2
	if slow {
		room = 4
	}
	for step := 0; step < 45; step++ {
		time.Sleep(200 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2.5/(1+0.1*float64(step)))
		}
	}
	fmt.Println("score", evaluate(4, room, slow))
}
