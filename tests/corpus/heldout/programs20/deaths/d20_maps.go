// Workers of a search note their scores in one map, without a lock.
package main

import (
	"fmt"
	"time"
)

func main() {
	scores := map[int]float64{}
	for step := 0; step < 60; step++ {
		time.Sleep(100 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2.5/(1+0.1*float64(step)))
		}
		if step < 35 {
			continue
		}
		for worker := 0; worker < 4; worker++ {
			go func(worker int) {
				for k := 0; k < 2000000; k++ {
					scores[worker*100+k%100] = float64(k)
				}
			}(worker)
		}
	}
}
