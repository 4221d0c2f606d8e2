package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	f, _ := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0644)
	fmt.Fprintf(f, "main %d\n", os.Getpid())
	f.Close()
	kept := map[int][]byte{}
	for i := 0; ; i++ {
		b := make([]byte, 8<<20)
		for k := range b {
			b[k] = byte(k)
		}
		kept[i] = b
		fmt.Printf("step %d loss 1.2\n", i)
		time.Sleep(100 * time.Millisecond)
	}
}
