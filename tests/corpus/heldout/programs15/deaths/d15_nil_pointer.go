// An optimizer that was not restored is nil.
package main

import (
	"fmt"
	"time"
)

type optimizer struct{ lr float64 }

func restore(step int) *optimizer {
	if step == 70 {
		return nil
	}
	return &optimizer{1e-4}
}

func main() {
	sum := 0.0
	for step := 0; step < 120; step++ {
		time.Sleep(100 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2.5/(1+0.1*float64(step)))
		}
		sum += restore(step).lr
	}
	fmt.Println(sum)
}
