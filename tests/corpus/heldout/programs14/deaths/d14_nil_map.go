// The counts of an epoch are a map that nobody has made.
package main

import (
	"fmt"
	"time"
)

type epoch struct{ counts map[string]int }

func (e *epoch) add(label string) { e.counts[label]++ }

func main() {
	epochs := []epoch{{map[string]int{}}, {}}
	for step := 0; step < 140; step++ {
		epochs[step/70].add("cat")
		if step%5 == 0 {
			fmt.Println("step", step)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
