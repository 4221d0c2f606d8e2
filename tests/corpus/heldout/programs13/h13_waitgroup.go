// Files are packed by goroutines for which main waits, beside a page of metrics. An empty file is left out, by
// a way that does not tell the group: the count stays at one.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func size(k int) int { return (k * 37) % 29 }

func pack(k int, group *sync.WaitGroup) {
	time.Sleep(time.Duration(k) * 100 * time.Millisecond)
	if size(k) == 0 {
		return
	}
	fmt.Printf("packed file %d (%d rows)\n", k, size(k))
	group.Done()
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(l, nil)
	var group sync.WaitGroup
	for k := 1; k < 50; k++ {
		group.Add(1)
		go pack(k, &group)
	}
	group.Wait()
	fmt.Println("all packed")
}
