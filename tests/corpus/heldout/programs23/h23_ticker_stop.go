// A job that counts tokens, with a goroutine that writes the state at each tick. At the end the ticker is stopped and
// the goroutine waited for: a stopped ticker gives no more ticks, but its channel is not closed. A goroutine that tells
// its health keeps the runtime from seeing it.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

func role(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func report(ticker *time.Ticker, tokens *int64, group *sync.WaitGroup) {
	defer group.Done()
	for range ticker.C {
		os.WriteFile("state", []byte(fmt.Sprint(atomic.LoadInt64(tokens))), 0o644)
	}
}

func health(door net.Listener) {
	for {
		if end, err := door.Accept(); err == nil {
			end.Write([]byte("ok\n"))
			end.Close()
		}
	}
}

func main() {
	role("main")
	var group sync.WaitGroup
	var tokens int64
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go health(door)
	ticker := time.NewTicker(time.Second)
	group.Add(1)
	go report(ticker, &tokens, &group)
	for step := 0; step < 40; step++ {
		time.Sleep(200 * time.Millisecond)
		atomic.AddInt64(&tokens, 4096)
		if step%5 == 0 {
			fmt.Printf("step %d tokens %d\n", step, tokens)
		}
	}
	ticker.Stop()
	group.Wait()
	fmt.Println("counted", tokens)
}
