// Samples of a shard are written as JSON into a pipe within the process (io.Pipe) and read from it. The reader stops at
// the line that says how many there were; the writer has one line more, a checksum, and waits until somebody reads it.
// Main waits for both. A goroutine that tells its health keeps the runtime from seeing it.
package main

import (
	"encoding/json"
	"fmt"
	"io"
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

type row struct {
	Value, Count int
	Sum          string
}

func write(out *io.PipeWriter, shard int) {
	to := json.NewEncoder(out)
	for k := 1; k <= 8; k++ {
		time.Sleep(20 * time.Millisecond)
		to.Encode(row{Value: k})
	}
	to.Encode(row{Count: 8})
	if shard >= 36 {
		to.Encode(row{Sum: "5d41"})
	}
	out.Close()
}

func read(in *io.PipeReader) int {
	from, sum := json.NewDecoder(in), 0
	for {
		var r row
		if from.Decode(&r) != nil || r.Count > 0 {
			return sum
		}
		sum += r.Value
	}
}

func health(door net.Listener) {
	for {
		if end, err := door.Accept(); err == nil {
			end.Write([]byte("ok\n"))
			end.Close()
		}
	}
}

func main() {
	role("main")
	door, _ := net.Listen("tcp", "127.0.0.1:0")
	go health(door)
	for shard := 0; shard < 500; shard++ {
		in, out := io.Pipe()
		var both sync.WaitGroup
		both.Add(2)
		sum := 0
		go func() { defer both.Done(); write(out, shard) }()
		go func() { defer both.Done(); sum = read(in) }()
		both.Wait()
		if shard%5 == 0 {
			fmt.Printf("step %d sum %d\n", shard, sum)
		}
	}
}
