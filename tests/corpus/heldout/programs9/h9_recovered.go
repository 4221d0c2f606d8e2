// Rank 0 has a table of parameters behind a lock and answers the others. A handler panics with the lock held; net/http recovers it, and
// nobody unlocks.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

var (
	lock  sync.Mutex
	table = map[string]float64{"bias": 0}
)

func role(name string) {
	if f, err := os.OpenFile(os.Getenv("CORPUS_ROLES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintf(f, "%s %d\n", name, os.Getpid())
		f.Close()
	}
}

func push(w http.ResponseWriter, r *http.Request) {
	lock.Lock()
	values := []float64{1, 2, 3}
	at, _ := strconv.Atoi(r.URL.Query().Get("at"))
	table["bias"] += values[at]
	lock.Unlock()
	fmt.Fprint(w, table["bias"])
}

func work(rank string) {
	for k := 0; k < 60; k++ {
		time.Sleep(200 * time.Millisecond)
		at := k % 3
		if rank == "2" && k == 12 {
			at = 3
		}
		answer, err := http.Get("http://127.0.0.1:" + os.Getenv("MASTER_PORT") + "/push?at=" + strconv.Itoa(at))
		if err != nil {
			continue
		}
		got, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if rank == "1" {
			fmt.Println("step", k, "bias", string(got))
		}
	}
}

func main() {
	rank := os.Getenv("RANK")
	role("rank" + rank)
	if rank != "0" {
		work(rank)
		return
	}
	log.SetOutput(io.Discard)
	http.HandleFunc("/push", push)
	http.ListenAndServe("127.0.0.1:"+os.Getenv("MASTER_PORT"), nil)
}
