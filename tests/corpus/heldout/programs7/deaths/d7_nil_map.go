package main

import (
	"fmt"
	"time"
)

func main() {
	var counts map[string]int
	for n := 0; n < 10; n++ {
		fmt.Println("counted file", n)
		time.Sleep(100 * time.Millisecond)
	}
	counts["the"]++
}
