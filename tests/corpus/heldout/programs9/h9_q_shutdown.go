// Rank 0 is done and shuts its server down, which waits for rank 1's download of the model: 60 s.
package main

import (
	"context"
	"fmt"
	"io"
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
	began := make(chan bool, 1)
	http.HandleFunc("/model", func(w http.ResponseWriter, r *http.Request) {
		began <- true
		for k := 0; k < 64; k++ {
			w.Write(make([]byte, 65536))
			w.(http.Flusher).Flush()
			time.Sleep(time.Second)
		}
	})
	server := &http.Server{Addr: addr}
	go server.ListenAndServe()
	<-began
	for k := 0; k < 20; k++ {
		time.Sleep(200 * time.Millisecond)
		fmt.Println("epoch 0 step", k)
	}
	fmt.Println("training finished, shutting down")
	server.Shutdown(context.Background())
	fmt.Println("bye")
}

func fetch(addr string) {
	for {
		answer, err := http.Get("http://" + addr + "/model")
		if err == nil {
			io.Copy(io.Discard, answer.Body)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func main() {
	role("rank" + os.Getenv("RANK"))
	addr := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	if os.Getenv("RANK") == "0" {
		serve(addr)
	} else {
		fetch(addr)
	}
}
