// A Go job: a group of workers goes through long files, one line in a while.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	scale := 1.0
	if s := os.Getenv("CORPUS_SCALE"); s != "" {
		scale, _ = strconv.ParseFloat(s, 64)
	}
	if p := os.Getenv("CORPUS_ROLES"); p != "" {
		f, _ := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	for i := 0; i < 3; i++ {
		var wg sync.WaitGroup
		for k := 1; k <= 4; k++ {
			wg.Add(1)
			go func(k int) {
				defer wg.Done()
				for n := 0; n < 60; n++ { // lines of a file on a slow mount
					time.Sleep(time.Duration(scale * float64(k) * 0.1 * float64(time.Second)))
				}
			}(k)
		}
		wg.Wait()
		fmt.Printf("level=INFO msg=pass pass=%d loss=%.3f\n", i, 2/float64(1+i))
	}
}
