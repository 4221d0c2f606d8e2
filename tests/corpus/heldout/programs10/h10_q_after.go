// A mirror does not answer within a minute, the next one does.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func serve(pause time.Duration) string {
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(door, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/12" {
			time.Sleep(pause)
		}
		fmt.Fprintln(w, "shard")
	}))
	return "http://" + door.Addr().String()
}

func get(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
	answer, err := http.DefaultClient.Do(request)
	if err == nil {
		answer.Body.Close()
	}
	return err
}

func main() {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintf(f, "main %d\n", os.Getpid())
		f.Close()
	}
	mirrors := []string{serve(5 * time.Minute), serve(0)}
	for k := 0; k < 30; k++ {
		time.Sleep(200 * time.Millisecond)
		for _, m := range mirrors {
			if err := get(fmt.Sprintf("%s/%d", m, k)); err == nil {
				fmt.Println("shard", k)
				break
			}
			fmt.Println("next mirror")
		}
	}
}
