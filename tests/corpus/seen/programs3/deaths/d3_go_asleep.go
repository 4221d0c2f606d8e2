package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	for i := 0; i < 15; i++ {
		fmt.Println("iter", i)
		time.Sleep(50 * time.Millisecond)
	}
	var wg sync.WaitGroup
	wg.Add(1)
	wg.Wait()
}
