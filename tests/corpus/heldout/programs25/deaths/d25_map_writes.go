// Two goroutines count words in one map.
package main

import (
	"fmt"
	"time"
)

func main() {
	counts := map[int]int{}
	for step := 0; step < 50; step += 5 {
		time.Sleep(100 * time.Millisecond)
		fmt.Println("step", step)
	}
	for k := 0; k < 8; k++ {
		go func() {
			for i := 0; ; i++ {
				counts[i%1000]++
			}
		}()
	}
	time.Sleep(20 * time.Second)
}
