// A trainer asks a service of features, which it has started, by HTTP for each batch. The service takes a lock in its
// handler and gives it back at the end of it, but not where it says that a sample is unknown. The trainer skips that
// sample and asks for the next one.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

func role(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintln(f, name, os.Getpid())
		f.Close()
	}
}

func serve() {
	var mu sync.Mutex
	features := map[string]string{}
	for k := 0; k < 500; k++ {
		if k != 42 {
			features[fmt.Sprintf("/sample-%d", k)] = "0.1 0.2"
		}
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(door.Addr())
	http.Serve(door, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		row, known := features[r.URL.Path]
		if !known {
			http.Error(w, "unknown sample", 404)
			return
		}
		fmt.Fprintln(w, row)
		mu.Unlock()
	}))
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		role("server")
		serve()
		return
	}
	role("main")
	service := exec.Command(os.Args[0], "serve")
	service.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, _ := service.StdoutPipe()
	if err := service.Start(); err != nil {
		panic(err)
	}
	address, _ := bufio.NewReader(out).ReadString('\n')
	for step := 0; step < 300; step++ {
		answer, err := http.Get(fmt.Sprintf("http://%s/sample-%d", strings.TrimSpace(address), step))
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		time.Sleep(200 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2.5/(1+0.1*float64(step)))
		}
	}
}
