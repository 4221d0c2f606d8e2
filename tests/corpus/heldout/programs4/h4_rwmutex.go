// Ranks in Go add up over a ring of TCP; in rank 2 a reader of the shared map asks for the write lock.
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

type table struct {
	sync.RWMutex
	rows map[int]float64
}

func (t *table) get(k int) float64 {
	t.RLock()
	defer t.RUnlock()
	v, ok := t.rows[k]
	if !ok && k >= 14 {
		t.fill(k)
	}
	return v
}

func (t *table) fill(k int) {
	t.Lock()
	t.rows[k] = 1
	t.Unlock()
}

func main() {
	rank, _ := strconv.Atoi(os.Getenv("RANK"))
	world, _ := strconv.Atoi(os.Getenv("WORLD_SIZE"))
	port, _ := strconv.Atoi(os.Getenv("MASTER_PORT"))
	door, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1+rank))
	if err != nil {
		panic(err)
	}
	var next net.Conn
	for next, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port+1+(rank+1)%world)); err != nil; {
		time.Sleep(50 * time.Millisecond)
		next, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port+1+(rank+1)%world))
	}
	prev, _ := door.Accept()
	t := &table{rows: map[int]float64{}}
	for k := 0; k < 1000 && (rank != 2 || k < 14); k++ {
		t.rows[k] = 1
	}
	for step := 0; ; step++ {
		time.Sleep(200 * time.Millisecond)
		x := t.get(step)
		total := x
		for k := 1; k < world; k++ {
			binary.Write(next, binary.LittleEndian, x)
			if binary.Read(prev, binary.LittleEndian, &x) != nil {
				os.Exit(1)
			}
			total += x
		}
		if rank == 0 {
			fmt.Println("step", step, "total", total)
		}
	}
}
