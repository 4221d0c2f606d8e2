// The last message has no receiver.
package main

import (
	"fmt"
	"time"
)

func main() {
	done := make(chan int)
	for k := 0; k < 10; k++ {
		go func(k int) { time.Sleep(100 * time.Millisecond); done <- k }(k)
		fmt.Println("shard", <-done)
	}
	fmt.Println("waiting for the last shard")
	fmt.Println("shard", <-done)
}
