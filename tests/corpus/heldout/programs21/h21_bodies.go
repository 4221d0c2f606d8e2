// A trainer gets its shards by HTTP, with two connections at most. An answer that is not 200 is left without closing its
// body, and with it a connection. The server answers 503 twice; the next request waits for a connection.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func role(name string, pid int) {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintf(f, "%s %d\n", name, pid)
		f.Close()
	}
}

func serve() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/20") || strings.HasSuffix(r.URL.Path, "/40") {
			w.WriteHeader(503)
			w.Write([]byte(strings.Repeat("try again later ", 4000)))
			return
		}
		w.Write([]byte(strings.Repeat("sample ", 500)))
	})
	fmt.Println(http.ListenAndServe(os.Args[2], nil))
}

func fetch(client *http.Client, address string, k int) int {
	answer, err := client.Get(fmt.Sprintf("http://%s/shard/%d", address, k))
	if err != nil {
		panic(err)
	}
	if answer.StatusCode != 200 {
		return 0
	}
	defer answer.Body.Close()
	got, _ := io.ReadAll(answer.Body)
	return len(got)
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		serve()
		return
	}
	role("main", os.Getpid())
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	address := door.Addr().String()
	door.Close()
	server := exec.Command(os.Args[0], "serve", address)
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if server.Start() != nil {
		os.Exit(1)
	}
	role("server", server.Process.Pid)
	for {
		end, err := net.Dial("tcp", address)
		if err == nil {
			end.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 2}}
	for step := 0; step < 400; step++ {
		n := fetch(client, address, step)
		time.Sleep(180 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d bytes %d\n", step, n)
		}
	}
}
