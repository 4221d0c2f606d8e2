// Ranks sum over TCP; in rank 1 two goroutines take two mutexes in opposite order.
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

var left, right sync.Mutex

func atoi(k string) int { n, _ := strconv.Atoi(os.Getenv(k)); return n }

func turn(i, r int) {
	if r == 1 && i == 15 {
		go func() {
			right.Lock()
			time.Sleep(400 * time.Millisecond)
			left.Lock()
		}()
		left.Lock()
		time.Sleep(400 * time.Millisecond)
		right.Lock()
	}
}

func main() {
	r, n := atoi("RANK"), atoi("WORLD_SIZE")
	addr := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	var peers []net.Conn
	if r == 0 {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			os.Exit(1)
		}
		for len(peers) < n-1 {
			c, _ := l.Accept()
			peers = append(peers, c)
		}
	} else {
		for {
			c, err := net.Dial("tcp", addr)
			if err == nil {
				peers = append(peers, c)
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	for i := int64(0); ; i++ {
		time.Sleep(250 * time.Millisecond)
		turn(int(i), r)
		var v int64
		if r == 0 {
			for _, p := range peers {
				binary.Read(p, binary.LittleEndian, &v)
			}
			for _, p := range peers {
				binary.Write(p, binary.LittleEndian, i)
			}
			fmt.Printf("step %d loss %.3f\n", i, 1.0/float64(i+1))
		} else {
			binary.Write(peers[0], binary.LittleEndian, i)
			binary.Read(peers[0], binary.LittleEndian, &v)
		}
	}
}
