// A thread's panic is taken over by main, which unwraps its join.
use std::{thread, time::Duration};

fn main() {
    for step in 0..25 {
        thread::sleep(Duration::from_millis(100));
        if step % 5 == 0 {
            println!("step {} loss {:.3}", step, 2.0 / (1 + step) as f64);
        }
    }
    let sizes: Vec<usize> = vec![512, 512, 300];
    thread::spawn(move || {
        for (k, n) in sizes.iter().enumerate() {
            assert_eq!(*n, 512, "chunk {} is short", k);
        }
    })
    .join()
    .unwrap();
}
