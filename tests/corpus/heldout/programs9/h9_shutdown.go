// Rank 0 serves events over HTTP and shuts the server down at the end, which waits until no request is active. Rank 1's request for
// events is active until rank 0 ends.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"time"
)

func role(name string) {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func serve(addr string) {
	news := make(chan int)
	http.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		for k := range news {
			fmt.Fprintf(w, "step %d\n", k)
			w.(http.Flusher).Flush()
		}
	})
	server := &http.Server{Addr: addr}
	go server.ListenAndServe()
	for k := 0; k < 20; k++ {
		time.Sleep(200 * time.Millisecond)
		fmt.Println("epoch 0 step", k)
		news <- k
	}
	fmt.Println("training finished, shutting down")
	server.Shutdown(context.Background())
	close(news)
	fmt.Println("bye")
}

func follow(addr string) {
	for {
		answer, err := http.Get("http://" + addr + "/events")
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		}
		return
	}
}

func main() {
	role("rank" + os.Getenv("RANK"))
	addr := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	if os.Getenv("RANK") == "0" {
		serve(addr)
	} else {
		follow(addr)
	}
}
