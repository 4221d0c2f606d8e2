// A data tool in Go runs a converter for each shard, reads its stdout to the end and then its stderr. The fourth shard
// has many odd records: the converter warns of each, its stderr is full, and its stdout stays open.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

func toldRole(name string, pid int) {
	if path := os.Getenv("CORPUS_ROLES"); path != "" {
		f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(f, "%s %d\n", name, pid)
		f.Close()
	}
}

func converter(shard int) {
	for k := 0; k < 3000; k++ {
		if shard == 3 {
			fmt.Fprintf(os.Stderr, "warning: record %d has no mask, all ones are taken\n", k)
		}
		if k%100 == 0 {
			fmt.Printf("record %d\n", k)
		}
	}
}

func convert(shard int) ([]byte, []byte) {
	cmd := exec.Command("/proc/self/exe", "convert", strconv.Itoa(shard))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, _ := cmd.StdoutPipe()
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	toldRole("converter", cmd.Process.Pid)
	records, _ := io.ReadAll(stdout)
	warnings, _ := io.ReadAll(stderr)
	cmd.Wait()
	return records, warnings
}

func main() {
	if len(os.Args) > 2 {
		shard, _ := strconv.Atoi(os.Args[2])
		converter(shard)
		return
	}
	toldRole("main", os.Getpid())
	for shard := 0; shard < 8; shard++ {
		for k := 0; k < 4; k++ {
			time.Sleep(600 * time.Millisecond)
			fmt.Printf("step %d\n", shard*4+k)
		}
		convert(shard)
	}
}
