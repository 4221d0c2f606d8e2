// A trainer writes a checkpoint of 40 parts, each of which it syncs, over about 45 s, then goes on.
package main

import (
	"fmt"
	"os"
	"time"
)

func save() error {
	f, err := os.Create("model.ckpt")
	if err != nil {
		return err
	}
	defer f.Close()
	part := make([]byte, 1<<16)
	for k := 0; k < 40; k++ {
		if _, err := f.Write(part); err != nil {
			return err
		}
		f.Sync()
		time.Sleep(1100 * time.Millisecond)
	}
	return nil
}

func main() {
	for step := 0; step < 90; step++ {
		time.Sleep(120 * time.Millisecond)
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f\n", step, 2.5/(1+0.1*float64(step)))
		}
		if step == 60 {
			fmt.Println("saving checkpoint")
			if err := save(); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	}
	fmt.Println("training done")
}
