// A label is as large as the table.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			fmt.Fprintf(f, "main %d\n", os.Getpid())
			f.Close()
		}
	}
	counts := make([]int, 10)
	for step := 0; step < 1000; step++ {
		label := step % 10
		if step == 32 {
			label = 10
		}
		counts[label]++
		if step%5 == 0 {
			fmt.Println("step", step, "of 1000")
		}
		time.Sleep(80 * time.Millisecond)
	}
}
