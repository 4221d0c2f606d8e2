// Objects are fetched over at most two connections. Of an answer 404 the body is neither read nor closed, and its connection is never free again: after two of
// these the third request waits for a connection.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func serve() string {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("k") == "11" || r.URL.Query().Get("k") == "17" {
			w.WriteHeader(404)
		}
		w.Write(make([]byte, 300000))
	})
	go http.Serve(listener, handler)
	return "http://" + listener.Addr().String()
}

func fetch(client *http.Client, url string) (int, error) {
	answer, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	if answer.StatusCode != 200 {
		return 0, fmt.Errorf("status %s", answer.Status)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return len(body), err
}

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	url := serve()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 2}}
	for k := 0; k < 100; k++ {
		time.Sleep(200 * time.Millisecond)
		n, err := fetch(client, fmt.Sprintf("%s/object?k=%d", url, k))
		fmt.Printf("level=info msg=\"object %d\" bytes=%d err=%v\n", k, n, err)
	}
}
