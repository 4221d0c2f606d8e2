// Each batch is sorted by a child. At one batch its input is not closed; main waits for the child's end, the child for the end of its input.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

func note(role string, pid int) {
	f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintf(f, "%s %d\n", role, pid)
		f.Close()
	}
}

func convert(batch int) error {
	child := exec.Command("sort", "-n")
	in, err := child.StdinPipe()
	if err != nil {
		return err
	}
	child.Stdout = io.Discard
	if err := child.Start(); err != nil {
		return err
	}
	note("sort", child.Process.Pid)
	for k := 0; k < 50; k++ {
		fmt.Fprintln(in, 50-k)
	}
	if batch != 22 {
		in.Close()
	}
	return child.Wait()
}

func main() {
	note("main", os.Getpid())
	for batch := 0; batch < 1000; batch++ {
		time.Sleep(200 * time.Millisecond)
		if err := convert(batch); err != nil {
			panic(err)
		}
		fmt.Printf("converted %d\n", batch)
	}
}
