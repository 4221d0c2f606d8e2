// A reporter goes over the ticks of a ticker and main waits for it at the end. Stop ends the ticks, but does not close their channel.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

func role(name string) {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func main() {
	role("main")
	door, err := net.Listen("tcp", "127.0.0.1:0") // for metrics
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			c, err := door.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	ticks, done := time.NewTicker(300*time.Millisecond), make(chan bool)
	var reporter sync.WaitGroup
	reporter.Add(1)
	go func() {
		defer reporter.Done()
		for range ticks.C {
			select {
			case <-done:
				return
			default:
				fmt.Println("throughput: 812 samples/s")
			}
		}
	}()
	time.Sleep(4 * time.Second)
	fmt.Println("epoch finished")
	ticks.Stop()
	close(done)
	reporter.Wait()
}
