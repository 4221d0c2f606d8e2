// concurrent map writes
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
	m := map[int]int{}
	for g := 0; g < 4; g++ {
		go func() {
			for i := 0; ; i++ {
				m[i%100] = i
			}
		}()
	}
	train(1000)
}
