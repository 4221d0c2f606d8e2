// A buffer with a sync.Cond for readers and writers alike; Signal wakes one that cannot go on. An HTTP page keeps the runtime content.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func note(role string) {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(f, role, os.Getpid())
		f.Close()
	}
}

type Once struct {
	mu   sync.Mutex
	cond *sync.Cond
	item *int
}

func (b *Once) put(x int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.item != nil {
		b.cond.Wait()
	}
	b.item = &x
	b.cond.Signal()
}

func (b *Once) get() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.item == nil {
		b.cond.Wait()
	}
	x := *b.item
	b.item = nil
	if x%16 != 15 { // the last of a lot needs no signal, the writer makes a pause anyway
		b.cond.Signal()
	}
	return x
}

func main() {
	note("main")
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(door, nil)
	b := &Once{}
	b.cond = sync.NewCond(&b.mu)
	go func() {
		for x := 0; ; x++ {
			b.put(x)
			if x%16 == 15 && x < 40 {
				time.Sleep(700 * time.Millisecond)
			}
		}
	}()
	for {
		time.Sleep(150 * time.Millisecond)
		fmt.Println("row", b.get())
	}
}
