// The results of eight shards are wanted and seven were sent: the runtime sees that nobody is left to send.
package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	results, group := make(chan int), sync.WaitGroup{}
	for shard := 0; shard < 8; shard++ {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(time.Duration(shard) * 150 * time.Millisecond)
			if shard == 5 {
				fmt.Println("shard 5 is empty, left out")
				return
			}
			results <- shard
		}()
	}
	for k := 0; k < 8; k++ {
		fmt.Println("result of shard", <-results)
	}
	group.Wait()
}
