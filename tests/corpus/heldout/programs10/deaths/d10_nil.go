package main

import (
	"fmt"
	"time"
)

type shard struct{ rows []int }

func open(k int) *shard {
	if k == 7 {
		return nil
	}
	return &shard{make([]int, 4)}
}

func main() {
	for k := 0; k < 20; k++ {
		time.Sleep(150 * time.Millisecond)
		fmt.Println("shard", k, "rows", len(open(k).rows))
	}
}
