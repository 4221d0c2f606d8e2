// A trainer reads samples from a buffer under a lock for readers, and from step 30 on it asks for the buffer's length
// meanwhile, which takes that lock again. A goroutine that adds samples wants to write in between: new readers have to
// wait for it, it has to wait for the first reader.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

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

type buffer struct {
	lock    sync.RWMutex
	samples []float64
}

func (b *buffer) length() int {
	b.lock.RLock()
	defer b.lock.RUnlock()
	return len(b.samples)
}

func (b *buffer) add(x float64) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.samples = append(b.samples, x)
}

func (b *buffer) batch(weigh bool) float64 {
	b.lock.RLock()
	defer b.lock.RUnlock()
	work(160 * time.Millisecond)
	sum := 0.0
	for _, x := range b.samples {
		sum += x
	}
	if weigh {
		sum /= float64(1 + b.length())
	}
	return sum
}

func collect(b *buffer) {
	for k := 0; ; k++ {
		time.Sleep(330 * time.Millisecond)
		b.add(float64(k))
	}
}

func main() {
	toldRole("main")
	go metrics()
	b := &buffer{}
	go collect(b)
	for step := 0; step < 400; step++ {
		b.batch(step >= 30)
		time.Sleep(30 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.3f\n", step, 2.5/(1+0.1*float64(step)))
		}
	}
}
