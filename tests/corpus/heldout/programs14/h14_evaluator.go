// Four ranks by torchrun's names: rank 0 serves the weights over HTTP, three register with it, and a push is
// answered when all who are registered have pushed. Rank 3 evaluates: it registers at step 60 to be told of
// new weights, pushes nothing, and waits for a version that comes only after ten more steps.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type server struct {
	lock       sync.Mutex
	changed    *sync.Cond
	registered map[string]bool
	pushed     map[string]bool
	version    int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who := r.URL.Query().Get("rank")
	s.lock.Lock()
	defer s.lock.Unlock()
	mine := s.version
	switch r.URL.Path {
	case "/register":
		s.registered[who] = true
	case "/push":
		s.pushed[who] = true
		if len(s.pushed) == len(s.registered) {
			s.version++
			s.pushed = map[string]bool{}
			s.changed.Broadcast()
		}
		for s.version == mine {
			s.changed.Wait()
		}
	case "/weights":
		for s.version < mine+10 {
			s.changed.Wait()
		}
	}
	json.NewEncoder(w).Encode(s.version)
}

func ask(address, path, rank string) int {
	for {
		answer, err := http.Get("http://" + address + path + "?rank=" + rank)
		if err != nil {
			if strings.Contains(err.Error(), "refused") {
				time.Sleep(100 * time.Millisecond)
				continue
			}
			fmt.Println("rank", rank, err)
			os.Exit(1)
		}
		version := 0
		json.NewDecoder(answer.Body).Decode(&version)
		answer.Body.Close()
		return version
	}
}

func main() {
	rank, address := os.Getenv("RANK"), "127.0.0.1:"+os.Getenv("MASTER_PORT")
	switch rank {
	case "0":
		s := &server{registered: map[string]bool{}, pushed: map[string]bool{}}
		s.changed = sync.NewCond(&s.lock)
		l, err := net.Listen("tcp", address)
		if err != nil {
			panic(err)
		}
		http.Serve(l, s)
	case "3":
		time.Sleep(9 * time.Second)
		fmt.Println("evaluator is up")
		ask(address, "/register", rank)
		fmt.Println("evaluating version", ask(address, "/weights", rank))
	default:
		ask(address, "/register", rank)
		for step := 0; step < 300; step++ {
			time.Sleep(130 * time.Millisecond)
			version := ask(address, "/push", rank)
			if rank == "1" && step%5 == 0 {
				fmt.Printf("step %d version %d\n", step, version)
			}
		}
	}
}
