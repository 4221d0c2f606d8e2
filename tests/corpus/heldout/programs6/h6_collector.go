// A collector returns at the first error; three workers still want to send it their results, main waits for the workers.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

func note(role string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintln(f, role, os.Getpid())
		f.Close()
	}
}

func collect(results chan int) error {
	for r := range results {
		fmt.Println("result", r)
		if r == 60 {
			return errors.New("checksum of part 60")
		}
	}
	return nil
}

func main() {
	note("main")
	door, _ := net.Listen("tcp", "127.0.0.1:0") // for profiles
	go func() { door.Accept() }()
	results, failed := make(chan int), make(chan error, 1)
	var workers sync.WaitGroup
	for k := 0; k < 3; k++ {
		workers.Add(1)
		go func(k int) {
			defer workers.Done()
			for n := k; n < 300; n += 3 {
				time.Sleep(120 * time.Millisecond)
				results <- n
			}
		}(k)
	}
	go func() { failed <- collect(results) }()
	workers.Wait()
	close(results)
	fmt.Println(<-failed)
}
