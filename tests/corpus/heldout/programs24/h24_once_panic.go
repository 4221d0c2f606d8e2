// A service of vectors loads its index once, when the first one asks, and tells by a closed channel that it is there.
// The load panics; the request that began it recovers and is answered with an error. Once is once: all later ones wait
// for the channel. A goroutine that tells its health keeps the runtime from seeing it.
//
// slow: nothing panics, and the load takes 50 s.
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
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

type index struct {
	once  sync.Once
	ready chan struct{}
	rows  []float64
	slow  bool
}

func (x *index) load() {
	if x.slow {
		time.Sleep(50 * time.Second)
		x.rows = []float64{0.5}
	}
	x.rows[0] += 1
	close(x.ready)
}

func (x *index) find(key int) float64 {
	x.once.Do(x.load)
	<-x.ready
	return x.rows[key%len(x.rows)]
}

func answer(x *index, key int) (value float64, err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("lookup %d: %v", key, what)
		}
	}()
	return x.find(key), nil
}

func health(door net.Listener) {
	for {
		if end, err := door.Accept(); err == nil {
			end.Write([]byte("ok\n"))
			end.Close()
		}
	}
}

func main() {
	role("main")
	x := &index{ready: make(chan struct{}), slow: len(os.Args) > 1}
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go health(door)
	for step := 0; step < 60; step++ {
		time.Sleep(190 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.3f\n", step, 1/float64(1+step))
		}
		if step < 34 {
			continue
		}
		var asked sync.WaitGroup
		for key := 0; key < 2; key++ {
			asked.Add(1)
			go func() {
				defer asked.Done()
				if _, err := answer(x, key); err != nil {
					fmt.Println(err)
				}
			}()
		}
		asked.Wait()
	}
}
