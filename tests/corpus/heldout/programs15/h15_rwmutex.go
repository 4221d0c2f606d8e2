// A trainer keeps its metrics under a RWMutex and serves them over HTTP. The report at every tenth step holds the
// read lock and calls a function that takes it again; once the thread that writes asks for it in between.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type metrics struct {
	sync.RWMutex
	losses map[int]float64
}

func (m *metrics) mean() float64 {
	m.RLock()
	defer m.RUnlock()
	sum := 0.0
	for _, x := range m.losses {
		sum += x
	}
	return sum / float64(len(m.losses))
}

func (m *metrics) report(step int) {
	m.RLock()
	defer m.RUnlock()
	if step >= 60 {
		time.Sleep(300 * time.Millisecond)
	}
	fmt.Printf("step %d loss %.4f of %d\n", step, m.mean(), len(m.losses))
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	m := &metrics{losses: map[int]float64{}}
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(door, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, m.mean()) }))
	losses := make(chan float64)
	go func() {
		k := 0
		for x := range losses {
			m.Lock()
			m.losses[k] = x
			k++
			m.Unlock()
		}
	}()
	for step := 0; step < 200; step++ {
		time.Sleep(130 * time.Millisecond)
		losses <- 1 / float64(step+1)
		if step%10 == 0 {
			if step == 60 {
				go func() { time.Sleep(100 * time.Millisecond); losses <- 0.5 }()
			}
			m.report(step)
		}
	}
	fmt.Println("training done")
}
