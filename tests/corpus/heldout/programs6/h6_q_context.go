// A request of a Go program has a context of 64 s; its backend is a goroutine that would take longer. Then it goes on.
package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

func backend(n int, out chan<- int) {
	if n == 20 {
		time.Sleep(100 * time.Second)
	}
	time.Sleep(150 * time.Millisecond)
	out <- n
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintln(f, "main", os.Getpid())
		f.Close()
	}
	for n := 0; n < 30; n++ {
		ctx, cancel := context.WithTimeout(context.Background(), 64*time.Second)
		out := make(chan int, 1)
		go backend(n, out)
		select {
		case x := <-out:
			fmt.Println("answer", x)
		case <-ctx.Done():
			fmt.Println("answer", n, "is late:", ctx.Err())
		}
		cancel()
	}
}
