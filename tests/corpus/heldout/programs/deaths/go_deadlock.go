// all goroutines are asleep
package main

import (
	"fmt"
	"time"
)

func train(n int) {
	for i := 0; i < n; i++ {
		fmt.Println("step", i)
		time.Sleep(20 * time.Millisecond)
	}
}

func main() {
	train(60)
	c := make(chan int)
	<-c
}
