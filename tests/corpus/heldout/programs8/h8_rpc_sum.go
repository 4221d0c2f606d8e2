// Worker 0 serves sums by net/rpc. A new call for the end of an epoch waits for one worker more than there are: worker 0 itself never calls.
package main

import (
	"fmt"
	"net"
	"net/rpc"
	"os"
	"strconv"
	"sync"
	"time"
)

type Sum struct {
	lock  sync.Mutex
	epoch sync.WaitGroup
	n     int
}

func (s *Sum) Push(gradient float64, mean *float64) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	*mean = gradient / float64(s.n)
	return nil
}

func (s *Sum) EndEpoch(worker int, ok *bool) error {
	s.epoch.Done()
	s.epoch.Wait()
	*ok = true
	return nil
}

func main() {
	rank, _ := strconv.Atoi(os.Getenv("RANK"))
	n, _ := strconv.Atoi(os.Getenv("WORLD_SIZE"))
	address := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	if rank == 0 {
		s := &Sum{n: n}
		s.epoch.Add(n)
		rpc.Register(s)
		door, err := net.Listen("tcp", address)
		if err != nil {
			panic(err)
		}
		rpc.Accept(door)
	}
	var c *rpc.Client
	for c == nil {
		c, _ = rpc.Dial("tcp", address)
		time.Sleep(50 * time.Millisecond)
	}
	for step := 1; ; step++ {
		time.Sleep(200 * time.Millisecond)
		var mean float64
		var ok bool
		c.Call("Sum.Push", 1.0/float64(step), &mean)
		fmt.Printf("worker=%d step=%d mean=%.4f\n", rank, step, mean)
		if step == 20 {
			c.Call("Sum.EndEpoch", rank, &ok)
		}
	}
}
