// The counts of a second kind of token go into a map that was never made.
package main

import (
	"fmt"
	"time"
)

type counts struct {
	words, bytes map[string]int
}

func (c *counts) add(step int) {
	c.words[fmt.Sprint("w", step%7)]++
	if step > 20 {
		c.bytes[fmt.Sprint("b", step%7)]++
	}
}

func main() {
	c := &counts{words: map[string]int{}}
	for step := 0; step < 100; step++ {
		time.Sleep(100 * time.Millisecond)
		c.add(step)
		if step%5 == 0 {
			fmt.Printf("step %d tokens %d\n", step, len(c.words))
		}
	}
}
