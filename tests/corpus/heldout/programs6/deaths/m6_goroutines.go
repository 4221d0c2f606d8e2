package main

import (
	"fmt"
	"os"
	"time"
)

func wait(answer chan int) {
	var page [32 << 10]byte
	for i := range page {
		page[i] = byte(i)
	}
	page[0] = byte(<-answer)
	fmt.Println(page[0])
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintln(f, "main", os.Getpid())
		f.Close()
	}
	for n := 0; n < 400; n++ {
		for k := 0; k < 60; k++ {
			go wait(make(chan int))
		}
		fmt.Println("request", n)
		time.Sleep(100 * time.Millisecond)
	}
}
