// Two goroutines count words into one map, without a lock.
package main

import (
	"fmt"
	"time"
)

func main() {
	counts := map[int]int{}
	for k := 0; k < 10; k++ {
		time.Sleep(150 * time.Millisecond)
		fmt.Printf("shard %d: read\n", k)
	}
	for w := 0; w < 4; w++ {
		go func() {
			for k := 0; ; k++ {
				counts[k%5000]++
			}
		}()
	}
	time.Sleep(30 * time.Second)
}
