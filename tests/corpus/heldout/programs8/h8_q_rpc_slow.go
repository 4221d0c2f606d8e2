// Worker 0 serves sums by net/rpc; at step 20 worker 2 sorts numbers for 62 s, and the others' calls wait for its own.
package main

import (
	"fmt"
	"net"
	"net/rpc"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

type Sum struct {
	lock  sync.Mutex
	all   *sync.Cond
	calls int
	n     int
}

func (s *Sum) Push(step int, mean *float64) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.calls++
	s.all.Broadcast()
	for s.calls < (step+1)*(s.n-1) {
		s.all.Wait()
	}
	*mean = 1 / float64(step+1)
	return nil
}

func sortFor(seconds float64) {
	for begin := time.Now(); time.Since(begin).Seconds() < seconds; {
		x := make([]int, 200000)
		for i := range x {
			x[i] = (i * 7919) % 200003
		}
		sort.Ints(x)
	}
}

func main() {
	rank, _ := strconv.Atoi(os.Getenv("RANK"))
	n, _ := strconv.Atoi(os.Getenv("WORLD_SIZE"))
	address := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	if rank == 0 {
		s := &Sum{n: n}
		s.all = sync.NewCond(&s.lock)
		rpc.Register(s)
		door, err := net.Listen("tcp", address)
		if err != nil {
			panic(err)
		}
		go rpc.Accept(door)
		for s.calls < 30*(n-1) {
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		return
	}
	var c *rpc.Client
	for c == nil {
		c, _ = rpc.Dial("tcp", address)
		time.Sleep(50 * time.Millisecond)
	}
	for step := 0; step < 30; step++ {
		time.Sleep(200 * time.Millisecond)
		if rank == 2 && step == 20 {
			sortFor(62)
		}
		var mean float64
		c.Call("Sum.Push", step, &mean)
		fmt.Printf("worker=%d step=%d mean=%.4f\n", rank, step, mean)
	}
}
