// Ranks with net/rpc. Rank 0 asks rank 1 for its state while it has its own lock; rank 1's handler asks rank 0 for its epoch.
package main

import (
	"fmt"
	"net"
	"net/http"
	"net/rpc"
	"os"
	"sync"
	"time"
)

type Node struct {
	mu    sync.Mutex
	epoch int
	other *rpc.Client
	rank  int
}

func (n *Node) Epoch(_ int, out *int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	*out = n.epoch
	return nil
}

func (n *Node) State(deep bool, out *int) error {
	time.Sleep(50 * time.Millisecond)
	if deep {
		return n.other.Call("Node.Epoch", 0, out)
	}
	return nil
}

func address(rank int) string {
	var base int
	fmt.Sscan(os.Getenv("MASTER_PORT"), &base)
	return fmt.Sprintf("127.0.0.1:%d", base+1+rank)
}

func dial(to string) *rpc.Client {
	for {
		if c, err := rpc.DialHTTP("tcp", to); err == nil {
			return c
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func main() {
	n := &Node{}
	fmt.Sscan(os.Getenv("RANK"), &n.rank)
	rpc.Register(n)
	rpc.HandleHTTP()
	door, err := net.Listen("tcp", address(n.rank))
	if err != nil {
		panic(err)
	}
	go http.Serve(door, nil)
	n.other = dial(address((n.rank + 1) % 3))
	if n.rank == 1 {
		n.other = dial(address(0))
	}
	for {
		var got int
		time.Sleep(200 * time.Millisecond)
		if n.rank == 0 {
			n.mu.Lock()
			n.epoch++
			if n.other.Call("Node.State", n.epoch > 15, &got) != nil {
				os.Exit(1)
			}
			n.mu.Unlock()
			fmt.Println("epoch", n.epoch)
		} else if n.rank == 2 {
			if n.other.Call("Node.Epoch", 0, &got) != nil {
				os.Exit(1)
			}
		}
	}
}
