// A pipeline of two stages whose first one does not close its channel: the second one waits for more, main for the second one.
package main

import (
	"fmt"
	"time"
)

func read(shards chan<- int) {
	for n := 0; n < 20; n++ {
		time.Sleep(100 * time.Millisecond)
		shards <- n
	}
}

func count(shards <-chan int, done chan<- int) {
	sum := 0
	for n := range shards {
		sum += n
		if n%5 == 0 {
			fmt.Printf("step %d tokens %d\n", n, 4096*sum)
		}
	}
	done <- sum
}

func main() {
	shards, done := make(chan int), make(chan int)
	go read(shards)
	go count(shards, done)
	fmt.Println("tokens", <-done)
}
