// A trainer whose settings have a lock for readers and writers. A step takes it for reading, and calls a function that
// takes it for reading once more. In between the goroutine that loads new settings wants it for writing: the second
// reader waits behind the writer, the writer waits for the first one. A page with numbers is served, too.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type settings struct {
	sync.RWMutex
	rate, scale float64
}

func (s *settings) scaled(x float64) float64 {
	s.RLock()
	defer s.RUnlock()
	return x * s.scale
}

func (s *settings) learningRate() float64 {
	s.RLock()
	defer s.RUnlock()
	time.Sleep(60 * time.Millisecond)
	return s.scaled(s.rate)
}

func (s *settings) reload() {
	s.Lock()
	defer s.Unlock()
	s.rate *= 0.5
}

func role(name string, pid int) {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintf(f, "%s %d\n", name, pid)
		f.Close()
	}
}

func main() {
	role("main", os.Getpid())
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(door, nil)
	s := &settings{rate: 0.1, scale: 1}
	changed := make(chan bool)
	go func() {
		for range changed {
			time.Sleep(5 * time.Millisecond)
			s.reload()
		}
	}()
	for step := 0; step < 400; step++ {
		if step >= 40 && step%10 == 0 {
			changed <- true
		}
		rate := s.learningRate()
		time.Sleep(140 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d rate %.4f\n", step, rate)
		}
	}
}
