// Ranks that sum up over TCP in each step, by RANK and WORLD_SIZE: slowrank HOW PORT FILE. Once the file is there, rank 1 takes longer
// in each step: it computes, sleeps, or (workers) another goroutine computes and its main one waits for that; all: every rank computes longer.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

var sink int

func work(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := 0; i < 1000; i++ {
			sink += i
		}
	}
}

func part(how string, rank int, slow bool) {
	time.Sleep(100 * time.Millisecond)
	mine := slow && (rank == 1 || how == "all")
	switch {
	case how == "workers":
		var other sync.WaitGroup
		other.Add(1)
		go func() {
			defer other.Done()
			work(10 * time.Millisecond)
			if mine {
				work(250 * time.Millisecond)
			}
		}()
		other.Wait()
	case mine && how == "sleep":
		time.Sleep(250 * time.Millisecond)
	case mine:
		work(250 * time.Millisecond)
	}
}

func main() {
	rank, _ := strconv.Atoi(os.Getenv("RANK"))
	world, _ := strconv.Atoi(os.Getenv("WORLD_SIZE"))
	how, address, slow := os.Args[1], "127.0.0.1:"+os.Args[2], false
	var others []net.Conn
	if rank == 0 {
		door, err := net.Listen("tcp", address)
		if err != nil {
			panic(err)
		}
		for len(others) < world-1 {
			c, err := door.Accept()
			if err != nil {
				panic(err)
			}
			others = append(others, c)
		}
	}
	for rank > 0 && len(others) == 0 {
		if c, err := net.Dial("tcp", address); err == nil {
			others = append(others, c)
		} else {
			time.Sleep(50 * time.Millisecond)
		}
	}
	var in []*bufio.Reader
	for _, c := range others {
		in = append(in, bufio.NewReader(c))
	}
	for step := 1; ; step++ {
		_, err := os.Stat(os.Args[3])
		slow = slow || err == nil
		part(how, rank, slow)
		if rank > 0 {
			fmt.Fprintf(others[0], "%d\n", step)
		}
		for _, r := range in {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
		}
		for i := 0; rank == 0 && i < len(others); i++ {
			fmt.Fprintf(others[i], "%d\n", step)
		}
		fmt.Printf("step %d loss 0.5\n", step)
	}
}
