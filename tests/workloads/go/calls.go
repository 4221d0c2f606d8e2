// Ranks that call each other over connections, as net/rpc does it: a goroutine reads the answers for all callers, and each
// request gets a goroutine of its own. os.Args[1]: what rank 0 and rank 1 do to each other.
package main

import (
	"bufio"
	_ "crypto/tls" // with it Go 1.26 has 32 MiB of variables
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

type client struct {
	conn    net.Conn
	mu      sync.Mutex
	pending map[int]chan int
	n       int
}

func (c *client) read() {
	for r := bufio.NewReader(c.conn); ; {
		var id int
		if _, err := fmt.Fscanln(r, &id); err != nil {
			return
		}
		c.mu.Lock()
		answer := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		answer <- id
	}
}

func (c *client) call(what string) {
	answer := make(chan int, 1)
	c.mu.Lock()
	c.n++
	c.pending[c.n] = answer
	fmt.Fprintln(c.conn, c.n, what)
	c.mu.Unlock()
	<-answer
}

func dial(address func() string) *client {
	for {
		if conn, err := net.Dial("tcp", address()); err == nil {
			c := &client{conn: conn, pending: map[int]chan int{}}
			go c.read()
			return c
		}
		time.Sleep(20 * time.Millisecond)
	}
}

type node struct {
	mu    sync.Mutex
	other *client
	group sync.WaitGroup
}

func (n *node) handle(what string) {
	switch what {
	case "get":
		n.mu.Lock()
		n.mu.Unlock()
	case "ask-back":
		n.other.call("get")
	case "meet":
		n.group.Done()
		n.group.Wait()
	}
}

func (n *node) serve(door net.Listener) {
	for {
		conn, err := door.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := bufio.NewReader(conn); ; {
				var id int
				var what string
				if _, err := fmt.Fscanln(r, &id, &what); err != nil {
					return
				}
				go func() {
					n.handle(what)
					fmt.Fprintln(conn, id)
				}()
			}
		}()
	}
}

func main() {
	rank, folder := os.Getenv("RANK"), os.Args[2]
	n := &node{}
	n.group.Add(3) // one more than call
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	os.WriteFile(folder+"/new."+rank, []byte(door.Addr().String()), 0o600)
	os.Rename(folder+"/new."+rank, folder+"/address."+rank)
	of := func(rank string) func() string {
		return func() string { b, _ := os.ReadFile(folder + "/address." + rank); return string(b) }
	}
	switch os.Args[1] + rank {
	case "lock0":
		n.other = dial(of("1"))
		go n.serve(door)
		n.mu.Lock()
		n.other.call("ask-back")
	case "lock1":
		n.other = dial(of("0"))
		go n.serve(door)
		for {
			time.Sleep(100 * time.Millisecond)
		}
	case "lock2":
		time.Sleep(300 * time.Millisecond)
		dial(of("0")).call("get")
	case "meet0", "idle0":
		n.serve(door)
	case "meet1", "meet2":
		dial(of("0")).call("meet")
	case "idle1": // it has had its answer
		c := dial(of("0"))
		c.call("nothing")
		for {
			time.Sleep(100 * time.Millisecond)
		}
	}
}
