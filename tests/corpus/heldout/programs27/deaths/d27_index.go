// An index behind the end of a slice, in a goroutine.
package main

import (
	"fmt"
	"time"
)

func label(names []string, k int) string { return names[k] }

func main() {
	names, done := make([]string, 10), make(chan string)
	for step := 0; step < 30; step++ {
		time.Sleep(100 * time.Millisecond)
		fmt.Println("step", step)
	}
	go func() { done <- label(names, 10+len(names)/10) }()
	fmt.Println(<-done)
}
