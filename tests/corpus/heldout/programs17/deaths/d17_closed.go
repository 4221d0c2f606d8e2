// A worker sends its result into a channel that main has closed after a deadline.
package main

import (
	"fmt"
	"time"
)

func work(results chan<- int, k int) {
	d := 60 * time.Millisecond
	if k == 30 {
		d = 600 * time.Millisecond
	}
	time.Sleep(d)
	results <- k
}

func main() {
	for step := 0; step < 40; step++ {
		results := make(chan int)
		go work(results, step)
		select {
		case <-results:
		case <-time.After(300 * time.Millisecond):
			fmt.Printf("warning: step %d is late, left out\n", step)
			close(results)
		}
		if step%5 == 0 {
			fmt.Printf("step %d loss %.3f\n", step, 2.5/float64(1+step))
		}
	}
}
