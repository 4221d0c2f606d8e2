// A Go sampler with long pauses: a batch every 11 s by a ticker, quiet between.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if p := os.Getenv("CORPUS_ROLES"); p != "" {
		f, _ := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	scale := 1.0
	if s := os.Getenv("CORPUS_SCALE"); s != "" {
		scale, _ = strconv.ParseFloat(s, 64)
	}
	out := make(chan int)
	go func() {
		for i := 0; i < 7; i++ {
			time.Sleep(time.Duration(10 * scale * float64(time.Second)))
			out <- i
		}
		close(out)
	}()
	fmt.Println("sampler ready")
	for i := range out {
		fmt.Printf("step %d loss %.3f\n", i, 2/float64(1+i))
	}
}
