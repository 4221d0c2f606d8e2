// Channel from a goroutine that waits on a timer for a minute.
package main

import (
	"fmt"
	"time"
)

func collect(c chan<- int) {
	t := time.NewTimer(61 * time.Second)
	<-t.C
	c <- 1
}

func main() {
	for i := 0; i < 12; i++ {
		time.Sleep(250 * time.Millisecond)
		fmt.Printf("step %d loss %.3f\n", i, 1.0/float64(i+1))
	}
	c := make(chan int)
	go collect(c)
	fmt.Println("collected", <-c)
}
