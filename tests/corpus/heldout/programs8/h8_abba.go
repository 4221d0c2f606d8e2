// A goroutine that saves takes the model and then the disk; one that restores takes them the other way round. Main waits for both.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var model, disk sync.Mutex

func note(role string) {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintf(f, "%s %d\n", role, os.Getpid())
		f.Close()
	}
}

func main() {
	note("main")
	for step := 0; step < 30; step++ {
		time.Sleep(200 * time.Millisecond)
		model.Lock()
		fmt.Fprintf(os.Stderr, "level=info msg=\"train step\" step=%d loss=%.3f\n", step, 2.0/float64(step+1))
		model.Unlock()
	}
	var both sync.WaitGroup
	both.Add(2)
	go func() {
		defer both.Done()
		model.Lock()
		defer model.Unlock()
		time.Sleep(300 * time.Millisecond)
		disk.Lock()
		defer disk.Unlock()
	}()
	go func() {
		defer both.Done()
		disk.Lock()
		defer disk.Unlock()
		time.Sleep(300 * time.Millisecond)
		model.Lock()
		defer model.Unlock()
	}()
	go func() {
		for range time.Tick(5 * time.Second) {
		}
	}()
	both.Wait()
}
