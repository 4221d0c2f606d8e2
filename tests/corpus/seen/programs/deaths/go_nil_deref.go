// nil pointer
package main

import (
	"fmt"
	"time"
)

func train(n int) {
	for i := 0; i < n; i++ {
		fmt.Println("step", i)
		time.Sleep(20 * time.Millisecond)
	}
}

type M struct{ w []float32 }

func main() {
	train(60)
	var m *M
	fmt.Println(len(m.w))
}
