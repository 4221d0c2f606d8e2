// The counts of a class are kept in a map that is made for the first epoch only.
package main

import (
	"fmt"
	"time"
)

type epoch struct {
	counts map[string]int
}

func (e *epoch) add(label string) {
	e.counts[label]++
}

func main() {
	epochs := []epoch{{counts: map[string]int{}}, {}}
	for step := 0; step < 60; step++ {
		epochs[step/30].add("cat")
		if step%5 == 0 {
			fmt.Printf("step %d\n", step)
		}
		time.Sleep(80 * time.Millisecond)
	}
}
