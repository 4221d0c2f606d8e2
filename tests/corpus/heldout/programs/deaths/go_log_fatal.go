// log.Fatal
package main

import (
	"fmt"
	"time"
	"log"
)

func train(n int) {
	for i := 0; i < n; i++ {
		fmt.Println("step", i)
		time.Sleep(20 * time.Millisecond)
	}
}

func main() {
	train(60)
	log.Fatal("feature store: schema 4 is not schema 3")
}
