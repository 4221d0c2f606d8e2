package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintln(f, "main", os.Getpid())
		f.Close()
	}
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGTERM)
	for n := 0; n < 100; n++ {
		select {
		case s := <-got:
			fmt.Fprintln(os.Stderr, "shutting down:", s)
			os.Exit(1)
		case <-time.After(200 * time.Millisecond):
			fmt.Println("served", n)
		}
	}
}
