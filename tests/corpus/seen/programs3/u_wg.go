// One worker returns at an error without Done; a ticker keeps the runtime from seeing a deadlock.
package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	go func() {
		for range time.Tick(time.Second) {
		}
	}()
	for i := 0; i < 100; i++ {
		var wg sync.WaitGroup
		for w := 0; w < 4; w++ {
			wg.Add(1)
			go func(w int) {
				if i == 8 && w == 2 {
					return
				}
				time.Sleep(200 * time.Millisecond)
				wg.Done()
			}(w)
		}
		wg.Wait()
		fmt.Printf("step %d loss %f\n", i, 1.0/float64(i+1))
	}
}
