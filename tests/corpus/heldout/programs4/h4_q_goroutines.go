// Counts primes in goroutines for about a minute; main waits for the group.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

func count(until time.Time, group *sync.WaitGroup) {
	defer group.Done()
	for n, primes := 2, 0; time.Now().Before(until); n++ {
		prime := true
		for d := 2; d*d <= n; d++ {
			if n%d == 0 {
				prime = false
				break
			}
		}
		if prime {
			primes++
		}
	}
}

func main() {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	fmt.Println("counting")
	var group sync.WaitGroup
	until := time.Now().Add(66 * time.Second)
	for k := 0; k < 2; k++ {
		group.Add(1)
		go count(until, &group)
	}
	group.Wait()
	fmt.Println("counted")
}
