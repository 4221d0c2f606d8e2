// Ranks in Go; rank 0 coordinates and hands results to a writer by a channel without a buffer. The writer returns on an error.
package main

import (
	"encoding/gob"
	"fmt"
	"net"
	"os"
	"time"
)

func write(results chan float64) {
	n := 0
	for r := range results {
		n++
		if n > 14 {
			os.WriteFile("writer.err", []byte(fmt.Sprint("cannot write ", r)), 0o600)
			return
		}
	}
}

func coordinate(address, world string) {
	var n int
	fmt.Sscan(world, &n)
	door, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	results := make(chan float64)
	go write(results)
	in, out := []*gob.Decoder{}, []*gob.Encoder{}
	for k := 1; k < n; k++ {
		c, _ := door.Accept()
		in, out = append(in, gob.NewDecoder(c)), append(out, gob.NewEncoder(c))
	}
	for step := 0; ; step++ {
		sum := 0.0
		for _, d := range in {
			var x float64
			d.Decode(&x)
			sum += x
		}
		results <- sum
		for _, e := range out {
			e.Encode(sum)
		}
		fmt.Println("round", step, "sum", sum)
	}
}

func train(address string) {
	var c net.Conn
	var err error
	for c, err = net.Dial("tcp", address); err != nil; c, err = net.Dial("tcp", address) {
		time.Sleep(50 * time.Millisecond)
	}
	in, out := gob.NewDecoder(c), gob.NewEncoder(c)
	for {
		time.Sleep(250 * time.Millisecond)
		var y float64
		out.Encode(1.5)
		if in.Decode(&y) != nil {
			os.Exit(1)
		}
	}
}

func main() {
	address := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	go func() {
		for {
			time.Sleep(2 * time.Second)
		}
	}()
	if os.Getenv("RANK") == "0" {
		coordinate(address, os.Getenv("WORLD_SIZE"))
	}
	train(address)
}
