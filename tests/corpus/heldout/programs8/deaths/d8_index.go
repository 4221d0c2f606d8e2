// A token is outside of the table.
package main

import (
	"fmt"
	"time"
)

func main() {
	table := make([]float64, 5)
	for token := 0; ; token++ {
		fmt.Println("token", token, table[token])
		time.Sleep(300 * time.Millisecond)
	}
}
