// Three ranks in Go pass gradients around a ring. Rank 1 reads its table of shapes under RLock and calls a function that takes RLock as well; between the two
// its statistics have asked for Lock, and the second reader is behind the writer.
package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

type shapes struct {
	sync.RWMutex
	rows map[string]int
	seen int
}

func (s *shapes) rowsOf(name string) int {
	s.RLock()
	defer s.RUnlock()
	return s.rows[name]
}

func (s *shapes) total(slow bool) (sum int) {
	s.RLock()
	defer s.RUnlock()
	for name := range s.rows {
		if slow {
			time.Sleep(150 * time.Millisecond)
		}
		sum += s.rowsOf(name)
	}
	return
}

func (s *shapes) count() {
	for {
		time.Sleep(70 * time.Millisecond)
		s.Lock()
		s.seen++
		s.Unlock()
	}
}

func dial(port int) net.Conn {
	for {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return c
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func main() {
	rank, _ := strconv.Atoi(os.Getenv("RANK"))
	world, _ := strconv.Atoi(os.Getenv("WORLD_SIZE"))
	port, _ := strconv.Atoi(os.Getenv("MASTER_PORT"))
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+rank))
	if err != nil {
		panic(err)
	}
	next := dial(port + (rank+1)%world)
	previous, _ := listener.Accept()
	table := &shapes{rows: map[string]int{"embed": 32000, "mlp": 4096}}
	go table.count()
	for step := 0; step < 200; step++ {
		time.Sleep(150 * time.Millisecond)
		x := uint64(table.total(rank == 1 && step == 25))
		for hop := 1; hop < world; hop++ {
			binary.Write(next, binary.LittleEndian, x)
			binary.Read(previous, binary.LittleEndian, &x)
		}
		if rank == 0 {
			fmt.Println("step", step, "sum", x)
		}
	}
}
