// A group of workers counts one down twice after an error that was tried again.
package main

import (
	"fmt"
	"sync"
	"time"
)

func work(step int, group *sync.WaitGroup) {
	defer group.Done()
	time.Sleep(90 * time.Millisecond)
	if step == 22 {
		fmt.Println("worker: read failed, trying again")
		group.Done()
	}
}

func main() {
	for step := 0; step < 100; step++ {
		var group sync.WaitGroup
		group.Add(1)
		go work(step, &group)
		group.Wait()
		if step%5 == 0 {
			fmt.Printf("step %d loss %.3f\n", step, 1/float64(1+step))
		}
		time.Sleep(20 * time.Millisecond)
	}
}
