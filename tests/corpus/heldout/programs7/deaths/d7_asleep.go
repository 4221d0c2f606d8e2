package main

import (
	"fmt"
	"time"
)

func main() {
	rows := make(chan int)
	go func() {
		for n := 0; n < 10; n++ {
			time.Sleep(100 * time.Millisecond)
			rows <- n
		}
	}()
	for n := range rows {
		fmt.Println("row", n)
	}
}
