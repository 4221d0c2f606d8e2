package main

import (
	"fmt"
	"runtime/debug"
	"time"
)

type node struct{ next *node }

func length(n *node) int {
	var pad [64]int
	return 1 + pad[3] + length(n.next)
}

func main() {
	debug.SetMaxStack(1 << 20)
	for n := 0; n < 10; n++ {
		fmt.Println("graph", n)
		time.Sleep(150 * time.Millisecond)
	}
	ring := &node{}
	ring.next = ring
	fmt.Println(length(ring))
}
