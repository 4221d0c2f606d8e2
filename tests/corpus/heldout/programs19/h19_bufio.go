// Two ranks talk by lines over TCP. Rank 1 makes a new bufio.Reader for each line, which reads what is there, gives the
// first line out, and is dropped with the rest. At step 40 rank 0 sends two lines at once, the sum and a new rate of
// learning, and waits for the answer to each; rank 1 has lost the second one and waits for it.
// With "slow" rank 1 keeps its reader, and rank 0 works for 48 s before the second line.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"time"
)

var slow = len(os.Args) > 1 && os.Args[1] == "slow"

func work(seconds float64) float64 {
	end, x := time.Now().Add(time.Duration(seconds*1e9)), 1.0
	for time.Now().Before(end) {
		for k := 0; k < 100000; k++ {
			x = x*0.999 + float64(k)
		}
		time.Sleep(30 * time.Millisecond)
	}
	return x
}

func readLine(link net.Conn, kept *bufio.Reader) string {
	reader := kept
	if reader == nil {
		reader = bufio.NewReader(link)
	}
	line, err := reader.ReadString('\n')
	if err != nil {
		os.Exit(1)
	}
	return line
}

func root(address string) {
	door, err := net.Listen("tcp", address)
	if err != nil {
		os.Exit(1)
	}
	link, _ := door.Accept()
	kept := bufio.NewReader(link)
	for step := 0; step < 400 && !(slow && step == 60); step++ {
		time.Sleep(200 * time.Millisecond)
		lines, answers := fmt.Sprintf("sum %d 0.4\n", step), 1
		if step == 40 {
			answers = 2
			if slow {
				fmt.Fprint(link, lines)
				work(48)
				lines = ""
			}
			lines += "rate 0.0001\n"
		}
		fmt.Fprint(link, lines)
		for k := 0; k < answers; k++ {
			readLine(link, kept)
		}
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2.5/(1+0.1*float64(step)))
		}
	}
	fmt.Fprint(link, "end\n")
}

func other(address string) {
	link, err := net.Dial("tcp", address)
	for err != nil {
		time.Sleep(50 * time.Millisecond)
		link, err = net.Dial("tcp", address)
	}
	var kept *bufio.Reader
	if slow {
		kept = bufio.NewReader(link)
	}
	for readLine(link, kept) != "end\n" {
		fmt.Fprint(link, "ok\n")
	}
}

func main() {
	address := "127.0.0.1:" + os.Getenv("MASTER_PORT")
	if os.Getenv("RANK") == "0" {
		root(address)
	} else {
		other(address)
	}
}
