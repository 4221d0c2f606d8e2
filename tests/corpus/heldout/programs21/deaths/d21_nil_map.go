// A trainer counts its labels in a map that nobody has made.
package main

import (
	"fmt"
	"time"
)

type stats struct {
	labels map[string]int
}

func (s *stats) count(label string) {
	s.labels[label]++
}

func main() {
	s := &stats{}
	for step := 0; step < 30; step++ {
		time.Sleep(100 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d\n", step)
		}
	}
	s.count("cat")
}
