// A program whose goroutines stand in every way that they can, or (os.Args[1]) whose main one waits for nobody, or works.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"time"
)

type box struct {
	pad [3]int
	mu  sync.Mutex
}

type pool struct{ jobs chan int }

type metrics struct {
	pad [3]int
	mu  sync.RWMutex
	sum float64
}

type result struct {
	shard int
	err   error
}

type service struct {
	metrics *metrics
	door    net.Listener
}

var global *pool

func step(i int) { fmt.Printf("step %d loss %.3f\n", i, 1/float64(i+1)) }

func ticker() {
	for range time.Tick(time.Second) {
	}
}

//go:noinline
func holdTwice(b *box) {
	b.mu.Lock()
	again(b)
}

func again(b *box) { b.mu.Lock() } // a place for the compiler to put into its caller

func listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return l
}

//go:noinline
func (m *metrics) mean() float64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.sum
}

//go:noinline
func (m *metrics) add(x float64) {
	m.mu.Lock()
	m.sum += x
	m.mu.Unlock()
}

//go:noinline
func (m *metrics) report() {
	m.mu.RLock()
	defer m.mu.RUnlock()
	go m.add(1)
	time.Sleep(300 * time.Millisecond) // who adds comes to the lock meanwhile
	m.mean()
}

// Each visitor is answered from the metrics.
func (s *service) serve() {
	for {
		c, err := s.door.Accept()
		if err != nil {
			return
		}
		go func() { fmt.Fprintln(c, s.metrics.mean()); c.Close() }()
	}
}

// What it reads comes late, and it has the lock meanwhile.
func (m *metrics) readUnder(c net.Conn) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c.Read(make([]byte, 8))
}

// Others may go on when the first one has come.
func (m *metrics) meetUnder(l net.Listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.Accept()
}

//go:noinline
func await(ctx context.Context) {
	answer := make(chan result)
	select {
	case r := <-answer:
		fmt.Println(r.shard)
	case <-ctx.Done():
	}
}

func all() {
	c, d := make(chan int), make(chan int)
	go holdTwice(&box{})
	for i := 0; i < 3; i++ {
		go func() { <-c }()
	}
	go func() {
		select {
		case <-c:
		case d <- 1:
		}
	}()
	go func() { time.Sleep(time.Hour) }()
	go func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		l.Accept()
	}()
	go func() {
		var nothing chan int
		<-nothing
	}()
	var rw sync.RWMutex
	rw.Lock()
	go func() { rw.RLock() }()
	cond := sync.NewCond(&sync.Mutex{})
	go func() { cond.L.Lock(); cond.Wait() }()
	var wg sync.WaitGroup
	wg.Add(1)
	wg.Wait()
}

func steps() {
	for i := 0; i < 60; i++ {
		time.Sleep(100 * time.Millisecond)
		step(i)
	}
}

func main() {
	go ticker()
	what := os.Args[1]
	if what == "all" {
		all()
	}
	if len(os.Args) == 2 && what != "server" && what != "many" {
		steps()
	}
	switch what {
	case "channel": // its sender is gone
		c := make(chan int)
		<-c
	case "mutex":
		holdTwice(&box{})
	case "reader": // it has the lock for reading already, and one that waits to write is between; visitors may come
		m := &metrics{}
		go (&service{m, listen()}).serve()
		m.report()
	case "holder": // who has it waits for bytes
		m, l := &metrics{}, listen()
		go (&service{m, listen()}).serve()
		c, _ := net.Dial("tcp", l.Addr().String())
		go m.readUnder(c)
		time.Sleep(300 * time.Millisecond)
		go m.add(1)
		time.Sleep(300 * time.Millisecond)
		m.mean()
	case "meeting": // who has it waits for a visitor
		m := &metrics{}
		go m.meetUnder(listen())
		time.Sleep(300 * time.Millisecond)
		m.mean()
	case "group":
		var wg sync.WaitGroup
		wg.Add(2)
		go func() { wg.Done() }()
		wg.Wait()
	case "select":
		a, b := make(chan int), make(chan string)
		select {
		case <-a:
		case b <- "x":
		}
	case "cond": // a signal that was given too early
		c := sync.NewCond(&sync.Mutex{})
		c.Signal()
		c.L.Lock()
		c.Wait()
	case "global": // a producer that comes to it by a variable alone
		global = &pool{jobs: make(chan int)}
		go func() { time.Sleep(time.Hour); global.jobs <- 1 }()
		<-global.jobs
	case "worker": // one has the group, and sleeps
		var wg sync.WaitGroup
		wg.Add(1)
		go func() { defer wg.Done(); time.Sleep(time.Hour) }()
		wg.Wait()
	case "chain": // the worker waits for another one, which sleeps
		c, wg := make(chan int), &sync.WaitGroup{}
		wg.Add(1)
		go func() { defer wg.Done(); <-c }()
		go func() { time.Sleep(time.Hour); c <- 1 }()
		wg.Wait()
	case "timer": // a function that a timer will call
		c := make(chan int)
		time.AfterFunc(time.Hour, func() { c <- 1 })
		<-c
	case "errors": // who took the results waits for the end of those who send them
		results, wg := make(chan result), &sync.WaitGroup{}
		for i := 0; i < 3; i++ {
			wg.Add(1)
			go func() { defer wg.Done(); results <- result{i, nil} }()
		}
		wg.Wait()
	case "permits": // nobody gives one back
		permits := make(chan struct{}, 1)
		permits <- struct{}{}
		permits <- struct{}{}
	case "batches": // their producer is gone
		c := make(chan []float64)
		<-c
	case "results":
		c := make(chan result)
		for range c {
		}
	case "answer": // who has it has left, and nobody gives up
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		await(ctx)
	case "deadline": // somebody gives up in time
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		inner, stop := context.WithCancel(ctx)
		defer stop()
		await(inner)
	case "notified":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		await(ctx)
	case "after":
		<-time.After(time.Hour)
	case "stamps": // a timer of the program's own sends
		c := make(chan time.Time)
		time.AfterFunc(time.Hour, func() { c <- time.Now() })
		<-c
	case "many":
		c := make(chan int)
		for i := 0; i < 12000; i++ {
			go func() { <-c }()
		}
		time.Sleep(time.Hour)
	case "context":
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		<-ctx.Done()
	case "signal":
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		<-c
	case "compute":
		x := 1.0
		for {
			x = x*1.0000001 + 1
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "stuck": // a collector has returned, workers send to nobody, and a page is served beside
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go func() { l.Accept() }()
		results, wg := make(chan int), &sync.WaitGroup{}
		for i := 0; i < 3; i++ {
			wg.Add(1)
			go func() { defer wg.Done(); results <- i }()
		}
		go func() { <-results }()
		wg.Wait()
	case "server":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go func() {
			for {
				l.Accept()
			}
		}()
		c := make(chan int)
		fmt.Println("ready")
		<-c
	}
}
