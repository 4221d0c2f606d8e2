// A thread computes for a minute, main joins it.
use std::thread;
use std::time::{Duration, Instant};
fn main() {
    for i in 0..12 {
        thread::sleep(Duration::from_millis(250));
        println!("step {} loss {:.3}", i, 1.0 / (i as f64 + 1.0));
    }
    let h = thread::spawn(|| {
        let t = Instant::now();
        let mut x = 1.0f64;
        while t.elapsed() < Duration::from_secs(60) {
            for _ in 0..100_000 {
                x = (x * 1.01).sin() + 1.5;
            }
            thread::sleep(Duration::from_millis(2));
        }
        x
    });
    println!("done {:.3}", h.join().unwrap());
}
