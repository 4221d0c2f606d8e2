// Each step three goroutines read a part of a batch. Where one fails it sends its error to a channel without room. main
// takes the first error, waits until all have ended, and would then try again. In step 40 all three fail: two of them
// wait to send, main waits for them. With "slow" one of them reads for 48 s.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

var slow = len(os.Args) > 1 && os.Args[1] == "slow"

func toldRole(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func work(d time.Duration) {
	end, x := time.Now().Add(d), 1.0
	for time.Now().Before(end) {
		for k := 0; k < 100000; k++ {
			x = x*0.999 + float64(k)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func metrics() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.Serve(listener, nil)
}

func readPart(step, part int) error {
	work(150 * time.Millisecond)
	if step == 40 && slow && part == 1 {
		work(48 * time.Second)
	}
	if step == 40 && !slow {
		return fmt.Errorf("part %d of batch %d cannot be read", part, step)
	}
	return nil
}

func readBatch(step int) error {
	var group sync.WaitGroup
	errors, done := make(chan error), make(chan bool)
	for part := 0; part < 3; part++ {
		group.Add(1)
		go func(part int) {
			defer group.Done()
			if err := readPart(step, part); err != nil {
				errors <- err
			}
		}(part)
	}
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case err := <-errors:
		group.Wait()
		return err
	case <-done:
		return nil
	}
}

func main() {
	toldRole("main")
	go metrics()
	for step := 0; step < 60; step++ {
		if err := readBatch(step); err != nil {
			fmt.Println("again:", err)
			continue
		}
		if step%5 == 0 {
			fmt.Printf("step %d loss %.3f\n", step, 2.5/(1+0.1*float64(step)))
		}
	}
}
