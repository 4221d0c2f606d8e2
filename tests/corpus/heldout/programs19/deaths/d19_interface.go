// A number in the settings was written with quotes, and is a text.
package main

import (
	"encoding/json"
	"fmt"
	"time"
)

func main() {
	var settings map[string]interface{}
	json.Unmarshal([]byte(`{"lr": 0.1, "decay": "0.01"}`), &settings)
	lr := settings["lr"].(float64)
	for step := 0; step < 60; step++ {
		time.Sleep(100 * time.Millisecond)
		if step == 30 {
			lr *= settings["decay"].(float64)
		}
		if step%5 == 0 {
			fmt.Printf("step %d loss %.4f lr %g\n", step, 2.5/(1+0.1*float64(step)), lr)
		}
	}
}
