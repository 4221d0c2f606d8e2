// Ranks whose gradients rank 0 adds up. Rank 2's shard has three batches fewer than the others': it wants the final
// weights while rank 0 wants its next gradient. "slow": the shards are alike, and rank 2 reads one batch for 45 s.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

func read(c net.Conn) float64 {
	var b [8]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		os.Exit(1)
	}
	return float64(int64(binary.BigEndian.Uint64(b[:])))
}

func write(c net.Conn, x float64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(int64(x)))
	c.Write(b[:])
}

func dial(port string) net.Conn {
	for {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			return c
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func batch(rank, i int, slow bool) {
	if slow && rank == 2 && i == 20 {
		time.Sleep(45 * time.Second)
	}
	time.Sleep(120 * time.Millisecond)
}

func main() {
	rank, _ := strconv.Atoi(os.Getenv("RANK"))
	world, _ := strconv.Atoi(os.Getenv("WORLD_SIZE"))
	slow := len(os.Args) > 1
	batches := []int{40, 40, 37, 40}
	if slow {
		batches[2] = 40
	}
	if rank > 0 {
		hub := dial(os.Getenv("MASTER_PORT"))
		write(hub, float64(rank))
		for i := 0; i < batches[rank]; i++ {
			batch(rank, i, slow)
			write(hub, float64(i))
			read(hub)
		}
		fmt.Printf("rank %d: shard done, waiting for final weights\n", rank)
		fmt.Printf("rank %d: final %v\n", rank, read(hub))
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("MASTER_PORT"))
	if err != nil {
		os.Exit(1)
	}
	peers := map[int]net.Conn{}
	for len(peers) < world-1 {
		c, _ := l.Accept()
		peers[int(read(c))] = c
	}
	for i := 0; i < batches[0]; i++ {
		batch(0, i, slow)
		sum := float64(i)
		for r := 1; r < world; r++ {
			sum += read(peers[r])
		}
		for r := 1; r < world; r++ {
			write(peers[r], sum/float64(world))
		}
		fmt.Printf("step %d loss %.3f\n", i, 3/(1+sum))
	}
	for r := 1; r < world; r++ {
		write(peers[r], 1)
	}
}
