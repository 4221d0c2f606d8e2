// Runs a tool for each dataset and takes its output. The second tool leaves a cleaner in the background, which holds the pipe: Wait waits
// for the end of the output.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"time"
)

func role(name string, pid int) {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintf(f, "%s %d\n", name, pid)
		f.Close()
	}
}

const tool = `echo rows $1; if [ $1 = 3 ]; then sleep 100000 & echo "cleaner $!" >> "$CORPUS_ROLES"; fi; sleep 0.5`

func main() {
	role("main", os.Getpid())
	for k := 0; k < 20; k++ {
		var out bytes.Buffer
		cmd := exec.Command("bash", "-c", tool, "tool", fmt.Sprint(k))
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("dataset %d: %s", k, out.String())
		time.Sleep(100 * time.Millisecond)
	}
}
