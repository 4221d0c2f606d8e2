// One Go process: the saver takes the state lock a second time through a helper; the trainer waits for it.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type Model struct {
	mu   sync.Mutex
	step int
}

func (m *Model) Digest() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.step * 31
}

func (m *Model) Save(deep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if deep {
		m.Digest()
	}
}

func main() {
	if p := os.Getenv("CORPUS_ROLES"); p != "" {
		f, _ := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	m := &Model{}
	go func() {
		for {
			time.Sleep(time.Second)
		}
	}()
	go func() {
		for n := 0; ; n++ {
			time.Sleep(500 * time.Millisecond)
			m.Save(n == 8)
		}
	}()
	for i := 0; ; i++ {
		time.Sleep(250 * time.Millisecond)
		m.mu.Lock()
		m.step = i
		m.mu.Unlock()
		fmt.Printf("step %d loss %.3f\n", i, 2/float64(1+i))
	}
}
