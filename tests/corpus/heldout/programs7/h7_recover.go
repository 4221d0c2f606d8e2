// A cache under a mutex. A lookup has panicked with the mutex, the panic was recovered and written down; the next lookup waits for it.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type cache struct {
	mu   sync.Mutex
	rows map[int][]byte
}

func (c *cache) first(n int) byte {
	c.mu.Lock()
	b := c.rows[n][0]
	c.mu.Unlock()
	return b
}

func serve(c *cache, n int, answers chan<- byte) {
	defer func() {
		if p := recover(); p != nil {
			os.WriteFile("panic.log", []byte(fmt.Sprint(p)), 0o644)
			answers <- 0
		}
	}()
	answers <- c.first(n)
}

func main() {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	c := &cache{rows: map[int][]byte{}}
	for n := 0; n < 1000; n++ {
		if n != 22 {
			c.rows[n] = []byte{byte(n)}
		}
	}
	answers := make(chan byte)
	for n := 0; n < 1000; n++ {
		time.Sleep(200 * time.Millisecond)
		go serve(c, n, answers)
		fmt.Println("looked up", n, <-answers)
	}
}
