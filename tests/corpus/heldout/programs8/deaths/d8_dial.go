// The server of features is not there; errors of three tries, then the end.
package main

import (
	"log"
	"net"
	"time"
)

func main() {
	var err error
	for try := 1; try <= 3; try++ {
		if _, err = net.Dial("tcp", "127.0.0.1:9"); err == nil {
			return
		}
		log.Printf("try %d: feature server not ready", try)
		time.Sleep(400 * time.Millisecond)
	}
	log.Fatalf("feature server: %v", err)
}
