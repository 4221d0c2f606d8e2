// A vocabulary behind a RWMutex: Encode takes it for reading, and calls Size, which takes it for reading again. A writer that
// comes in between keeps the second one out, and waits for the first one. A ticker saves beside it. Nothing is printed.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"
)

type vocabulary struct {
	sync.RWMutex
	words map[int]int
}

func (v *vocabulary) size() int {
	v.RLock()
	defer v.RUnlock()
	return len(v.words)
}

func (v *vocabulary) encode(k int) int {
	v.RLock()
	defer v.RUnlock()
	time.Sleep(150 * time.Millisecond)
	return k % (v.size() + 1)
}

func (v *vocabulary) learn(k int) {
	v.Lock()
	v.words[k] = k
	v.Unlock()
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, os.Interrupt)
	v := &vocabulary{words: map[int]int{}}
	go func() {
		time.Sleep(18 * time.Second)
		for k := 0; ; k++ {
			time.Sleep(330 * time.Millisecond)
			v.learn(k)
		}
	}()
	done := make(chan int)
	go func() {
		for k := 0; k < 3000; k++ {
			v.encode(k)
		}
		done <- 1
	}()
	<-done
}
