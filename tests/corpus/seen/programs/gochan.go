// Ranks in Go: a ticker goroutine lives on, the trainer of rank 1 waits on a channel that has lost its sender.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func role(name string, pid int) {
	if p := os.Getenv("CORPUS_ROLES"); p != "" {
		f, _ := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, pid)
		f.Close()
	}
}

func produce(out chan<- int, limit int) {
	for i := 0; i < limit; i++ {
		out <- i
	}
}

func run(rank int) {
	role(fmt.Sprintf("rank%d", rank), os.Getpid())
	addr := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	var links []net.Conn
	if rank == 0 {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			panic(err)
		}
		for i := 0; i < 2; i++ {
			c, _ := l.Accept()
			links = append(links, c)
		}
	} else {
		for {
			c, err := net.Dial("tcp", addr)
			if err == nil {
				links = append(links, c)
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	go func() {
		for range time.Tick(time.Second) {
		}
	}()
	limit := 1 << 30
	if rank == 1 {
		limit = 15
	}
	batches := make(chan int)
	go produce(batches, limit)
	b := []byte{0}
	for {
		i := <-batches
		time.Sleep(250 * time.Millisecond)
		if rank == 0 {
			for _, c := range links {
				io.ReadFull(c, b)
			}
			for _, c := range links {
				c.Write(b)
			}
			fmt.Printf("step %d loss %.3f\n", i, 2/float64(1+i))
		} else {
			links[0].Write(b)
			io.ReadFull(links[0], b)
		}
	}
}

func main() {
	if r := os.Getenv("RANK"); r != "" {
		n, _ := strconv.Atoi(r)
		run(n)
		return
	}
	role("launcher", os.Getpid())
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	var kids []*exec.Cmd
	for r := 0; r < 3; r++ {
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), fmt.Sprintf("RANK=%d", r), fmt.Sprintf("LOCAL_RANK=%d", r), "WORLD_SIZE=3", fmt.Sprintf("MASTER_PORT=%d", port))
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.Start()
		kids = append(kids, c)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		for _, k := range kids {
			k.Process.Kill()
		}
		os.Exit(143)
	}()
	for _, k := range kids {
		k.Wait()
	}
}
