// an index out of range in a goroutine
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
	s := []int{1, 2}
	go func() {
		time.Sleep(time.Second)
		n := len(s) + 3
		fmt.Println(s[n])
	}()
	train(1000)
}
