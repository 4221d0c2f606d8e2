// A cache behind a lock for many readers. Get takes it, and a call in it takes it again; a writer between the two makes both wait.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

type cache struct {
	sync.RWMutex
	rows map[int]string
}

func role(name string) {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func (c *cache) size() int {
	c.RLock()
	defer c.RUnlock()
	return len(c.rows)
}

func (c *cache) get(k int) string {
	c.RLock()
	defer c.RUnlock()
	time.Sleep(150 * time.Millisecond) // decoding
	return fmt.Sprintf("%s of %d", c.rows[k%8], c.size())
}

func main() {
	role("main")
	go http.ListenAndServe("127.0.0.1:0", nil)
	c := &cache{rows: map[int]string{}}
	for k := 0; k < 8; k++ {
		c.rows[k] = fmt.Sprint("row ", k)
	}
	go func() {
		for k := 0; ; k++ {
			time.Sleep(2700 * time.Millisecond)
			c.Lock()
			c.rows[k%8] = "new row"
			c.Unlock()
		}
	}()
	for k := 0; k < 200; k++ {
		fmt.Println("query", k, c.get(k))
	}
}
