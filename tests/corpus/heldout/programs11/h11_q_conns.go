// One connection a host: an upload takes 50 s, and the requests behind it wait for the connection.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/checkpoint" {
			time.Sleep(50 * time.Second)
		}
		io.WriteString(w, "stored")
	}))
	url := "http://" + listener.Addr().String()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	for k := 0; k < 40; k++ {
		time.Sleep(200 * time.Millisecond)
		if k == 20 {
			go upload(client, url+"/checkpoint")
			time.Sleep(100 * time.Millisecond)
		}
		answer, err := client.Get(fmt.Sprintf("%s/object-%d", url, k))
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		fmt.Printf("level=info msg=\"stored object %d\"\n", k)
	}
}

func upload(client *http.Client, url string) {
	if answer, err := client.Get(url); err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}
