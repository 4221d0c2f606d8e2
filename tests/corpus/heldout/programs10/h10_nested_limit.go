// At most three folders are listed at once. Who lists a folder keeps its place while its own folders are listed, and these want places too.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

var places = make(chan bool, 3)

func role(name string) {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func list(path string, depth int, wide int) {
	places <- true
	defer func() { <-places }()
	time.Sleep(200 * time.Millisecond)
	fmt.Println("listed", path)
	if depth == 0 {
		return
	}
	var inner sync.WaitGroup
	for k := 0; k < wide; k++ {
		inner.Add(1)
		go func() {
			defer inner.Done()
			list(fmt.Sprintf("%s/%d", path, k), depth-1, wide)
		}()
	}
	inner.Wait()
}

func main() {
	role("main")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		os.Exit(143)
	}()
	list("s3://corpus/small", 1, 4)
	list("s3://corpus/large", 2, 4)
	fmt.Println("all listed")
}
