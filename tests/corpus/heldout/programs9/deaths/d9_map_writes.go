// Two goroutines write to one map.
package main

import (
	"fmt"
	"time"
)

func main() {
	seen := map[int]int{}
	for k := 0; k < 10; k++ {
		time.Sleep(100 * time.Millisecond)
		fmt.Println("deduplicating part", k)
	}
	for w := 0; w < 4; w++ {
		go func() {
			for k := 0; ; k++ {
				seen[k%1000] = k
			}
		}()
	}
	time.Sleep(30 * time.Second)
}
