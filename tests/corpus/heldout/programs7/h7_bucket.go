// Three ranks; rank 0 sums what the others send. Rank 1's sender met a NaN, wrote that down and returned; its main waits for the sum.
package main

import (
	"bufio"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"time"
)

func number(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return n
}

func hub(n int) {
	door, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("MASTER_PORT"))
	if err != nil {
		panic(err)
	}
	var links []net.Conn
	var lines []*bufio.Reader
	for len(links) < n-1 {
		c, _ := door.Accept()
		links, lines = append(links, c), append(lines, bufio.NewReader(c))
	}
	for step := 0; ; step++ {
		for _, r := range lines {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
		}
		for _, c := range links {
			fmt.Fprintf(c, "%d\n", n)
		}
		fmt.Printf("step=%d loss=%.3f\n", step, 2.0/float64(step+1))
	}
}

func send(c net.Conn, grads chan float64) {
	for g := range grads {
		if math.IsNaN(g) {
			os.WriteFile("rank1.err", []byte("gradient is NaN\n"), 0o644)
			return
		}
		fmt.Fprintf(c, "%g\n", g)
	}
}

func main() {
	rank := number("RANK")
	if rank == 0 {
		hub(number("WORLD_SIZE"))
		return
	}
	var c net.Conn
	for {
		var err error
		if c, err = net.Dial("tcp", "127.0.0.1:"+os.Getenv("MASTER_PORT")); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	grads, sums := make(chan float64, 4), bufio.NewReader(c)
	go send(c, grads)
	for step := 0; ; step++ {
		time.Sleep(200 * time.Millisecond)
		g := 1.0
		if rank == 1 && step == 20 {
			g = math.NaN()
		}
		grads <- g
		if _, err := sums.ReadString('\n'); err != nil {
			return
		}
	}
}
