// A reader of results waits for one more than there are: no goroutine is left that could send.
package main

import (
	"fmt"
	"time"
)

func main() {
	results := make(chan int)
	go func() {
		for k := 0; k < 20; k++ {
			time.Sleep(150 * time.Millisecond)
			results <- k
		}
	}()
	for k := 0; k <= 20; k++ {
		r := <-results
		if r%5 == 0 {
			fmt.Printf("step %d\n", r)
		}
	}
}
