// A stage sends on a channel whose receiver has returned; a ticker keeps the runtime alive.
package main

import (
	"fmt"
	"time"
)

func consume(c <-chan int, n int) {
	for i := 0; i < n; i++ {
		v := <-c
		fmt.Printf("step %d loss %.3f\n", v, 1.0/float64(v+1))
	}
}

func main() {
	go func() {
		for range time.Tick(time.Second) {
		}
	}()
	c := make(chan int)
	go consume(c, 16)
	for i := 0; ; i++ {
		time.Sleep(250 * time.Millisecond)
		c <- i
	}
}
