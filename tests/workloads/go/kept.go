// kept keep|sleep|call: a service, started by its client, whose handler of request 20 has the lock of all: it returns
// without giving it back, sleeps for 20 s with it, or asks another service with it, which takes 20 s.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

type table struct {
	lock sync.Mutex
	last string
}

func slow() string {
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(door, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Second)
	}))
	return "http://" + door.Addr().String()
}

func serve(what string) {
	t := &table{}
	other := slow()
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println(door.Addr())
	http.Serve(door, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.lock.Lock()
		if r.URL.Path == "/20" {
			switch what {
			case "keep":
				http.Error(w, "unknown", 404)
				return
			case "sleep":
				time.Sleep(20 * time.Second)
			case "call":
				http.Get(other)
			}
		}
		t.last = r.URL.Path
		t.lock.Unlock()
	}))
}

func ask(address string, path int) {
	answer, err := http.Get(fmt.Sprintf("http://%s/%d", address, path))
	if err != nil {
		panic(err)
	}
	answer.Body.Close()
}

func main() {
	if len(os.Args) > 2 {
		serve(os.Args[1])
	}
	service := exec.Command(os.Args[0], os.Args[1], "serve")
	service.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, _ := service.StdoutPipe()
	service.Start()
	line, _ := bufio.NewReader(out).ReadString('\n')
	address := strings.TrimSpace(line)
	for step := 0; step < 24; step++ {
		var both sync.WaitGroup
		for n := 0; n < 2; n++ {
			both.Add(1)
			go func(path int) {
				ask(address, path)
				both.Done()
			}(step + n*1000)
		}
		both.Wait()
		time.Sleep(200 * time.Millisecond)
		fmt.Printf("step %d loss 0.5\n", step)
	}
	service.Process.Kill()
}
