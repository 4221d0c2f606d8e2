// A loader puts one batch at a time into a box, the training takes it; one condition is for all who wait for anything
// of the box. Who puts wakes one of them. From step 30 on a goroutine for metrics waits as well, for the hundredth
// batch: it is woken in the training's place and waits on. A goroutine that tells its health keeps the runtime from
// seeing it.
//
// slow: all are woken, and a batch takes 48 s.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

func role(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

type box struct {
	sync.Mutex
	changed *sync.Cond
	full    bool
	batch   int
	slow    bool
}

func (b *box) wake() {
	if b.slow {
		b.changed.Broadcast()
	} else {
		b.changed.Signal()
	}
}

func (b *box) put(n int) {
	b.Lock()
	for b.full {
		b.changed.Wait()
	}
	b.full, b.batch = true, n
	b.wake()
	b.Unlock()
}

func (b *box) take() int {
	b.Lock()
	defer b.Unlock()
	for !b.full {
		b.changed.Wait()
	}
	b.full = false
	b.wake()
	return b.batch
}

func (b *box) waitFor(n int) {
	b.Lock()
	for b.batch < n {
		b.changed.Wait()
	}
	b.Unlock()
}

func load(b *box) {
	for n := 0; ; n++ {
		time.Sleep(200 * time.Millisecond)
		if b.slow && n == 33 {
			time.Sleep(48 * time.Second)
		}
		b.put(n)
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
	b, steps := &box{slow: len(os.Args) > 1}, 500
	b.changed = sync.NewCond(&b.Mutex)
	if b.slow {
		steps = 60
	}
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go health(door)
	go load(b)
	for step := 0; step < steps; step++ {
		if step == 30 {
			go b.waitFor(100)
			time.Sleep(20 * time.Millisecond)
		}
		n := b.take()
		if step%5 == 0 {
			fmt.Printf("step %d batch %d\n", step, n)
		}
	}
}
