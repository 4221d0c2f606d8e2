// Four Go ranks around rank 0; a worker of rank 2 reports an error to a channel that nobody reads, its rank waits for it.
package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const world = 4

func role(name string) {
	if p := os.Getenv("CORPUS_ROLES"); p != "" {
		f, _ := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func launch() {
	role("launcher")
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	addr := l.Addr().String()
	l.Close()
	var kids []*exec.Cmd
	for r := 0; r < world; r++ {
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), "RANK="+strconv.Itoa(r), "LOCAL_RANK="+strconv.Itoa(r), "WORLD_SIZE="+strconv.Itoa(world), "HUB="+addr)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.Start()
		kids = append(kids, c)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-stop
		for _, c := range kids {
			c.Process.Kill()
		}
		os.Exit(143)
	}()
	for _, c := range kids {
		c.Wait()
	}
}

func work(rank, step int, errs chan error, done chan int) {
	time.Sleep(250 * time.Millisecond)
	if rank == 2 && step == 40 {
		errs <- fmt.Errorf("row %d: bad length", step)
	}
	done <- step
}

func main() {
	rank, err := strconv.Atoi(os.Getenv("RANK"))
	if err != nil {
		launch()
		return
	}
	role("rank" + os.Getenv("RANK"))
	var links []net.Conn
	if rank == 0 {
		l, _ := net.Listen("tcp", os.Getenv("HUB"))
		for len(links) < world-1 {
			c, _ := l.Accept()
			links = append(links, c)
		}
	} else {
		for len(links) == 0 {
			c, err := net.Dial("tcp", os.Getenv("HUB"))
			if err == nil {
				links = append(links, c)
			} else {
				time.Sleep(50 * time.Millisecond)
			}
		}
	}
	errs, done := make(chan error), make(chan int)
	for i := 0; ; i++ {
		go work(rank, i, errs, done)
		<-done
		var x uint64
		if rank == 0 {
			for _, c := range links {
				binary.Read(c, binary.LittleEndian, &x)
			}
			for _, c := range links {
				binary.Write(c, binary.LittleEndian, x)
			}
			fmt.Printf("step=%d loss=%.4f\n", i, 2/float64(1+i))
		} else {
			binary.Write(links[0], binary.LittleEndian, uint64(i))
			binary.Read(links[0], binary.LittleEndian, &x)
		}
	}
}
