// A worker of a job asks a registry for its model; that is busy (503) at first, and the worker waits 3, 6, 12
// and 24 s.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	asked := 0
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if asked < 5 {
			w.WriteHeader(503)
		}
	}))
	for step := 0; step < 60; step++ {
		time.Sleep(140 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2/float64(step+1))
		}
	}
	for wait := 3 * time.Second; ; wait *= 2 {
		answer, err := http.Get("http://" + l.Addr().String() + "/model")
		if err == nil && answer.StatusCode == 200 {
			break
		}
		time.Sleep(wait)
	}
	fmt.Println("model registered")
}
