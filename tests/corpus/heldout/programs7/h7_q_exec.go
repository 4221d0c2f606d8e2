// Between two epochs a child is run to its end; it has nothing to say for 65 s.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

func epoch(number int) {
	for n := 0; n < 15; n++ {
		time.Sleep(150 * time.Millisecond)
		fmt.Printf("epoch %d batch %d/15\n", number, n+1)
	}
}

func main() {
	epoch(1)
	child := exec.Command("sh", "-c", "sleep 65; echo rotated")
	child.Stdout = os.Stdout
	if err := child.Run(); err != nil {
		panic(err)
	}
	epoch(2)
}
