// a cache of Go that nobody limits
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	f, _ := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	fmt.Fprintln(f, "main", os.Getpid())
	var keep [][]byte
	for i := 0; i < 4000; i++ {
		b := make([]byte, 1<<20)
		for j := 0; j < len(b); j += 4096 {
			b[j] = 1
		}
		keep = append(keep, b)
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println(len(keep))
}
