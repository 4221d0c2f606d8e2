// A job that tokenizes shards, eight goroutines for each step. A goroutine that cannot read its shard returns with a line in the log
// before it says that it is done, so the group is never complete. A goroutine that tells its health keeps the runtime
// from seeing it.
//
// slow: the shard can be read, after 48 s.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

func role(name string) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func tokenize(step, shard int, slow bool, group *sync.WaitGroup, log *os.File) {
	time.Sleep(200 * time.Millisecond)
	if step == 33 && shard == 5 {
		if !slow {
			fmt.Fprintf(log, "shard %d: unexpected EOF\n", 8*step+shard)
			return
		}
		time.Sleep(48 * time.Second)
	}
	group.Done()
}

func allShards(step int, slow bool, log *os.File) {
	var group sync.WaitGroup
	group.Add(8)
	for shard := 0; shard < 8; shard++ {
		go tokenize(step, shard, slow, &group, log)
	}
	group.Wait()
}

func main() {
	role("main")
	slow, steps := len(os.Args) > 1, 500
	if slow {
		steps = 60
	}
	log, _ := os.Create("shards.log")
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go func() {
		for {
			if end, err := door.Accept(); err == nil {
				end.Write([]byte("ok\n"))
				end.Close()
			}
		}
	}()
	for step := 0; step < steps; step++ {
		allShards(step, slow, log)
		if step%5 == 0 {
			fmt.Printf("step %d shards %d\n", step, 8*step)
		}
	}
}
