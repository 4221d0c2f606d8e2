package main

import (
	"fmt"
	"time"
)

func load(rows []int, i int) int { return rows[i+3] }

func main() {
	for i := 0; i < 10; i++ {
		fmt.Printf("step %d loss %.3f\n", i, 2.0/float64(i+1))
		time.Sleep(50 * time.Millisecond)
	}
	done := make(chan int)
	go func() { done <- load(make([]int, 4), 2) }()
	<-done
}
