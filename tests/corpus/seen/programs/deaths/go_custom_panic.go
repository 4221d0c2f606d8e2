// a panic with an error of its own
package main

import (
	"fmt"
	"time"
	"errors"
)

func train(n int) {
	for i := 0; i < n; i++ {
		fmt.Println("step", i)
		time.Sleep(20 * time.Millisecond)
	}
}

func main() {
	train(60)
	panic(errors.New("shard count changed from 8 to 6"))
}
