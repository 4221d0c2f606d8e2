// Waits on a condition with a limit of 33 s, twice, and then flushes what there is.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let full = Arc::new((Mutex::new(0u32), Condvar::new()));
    let writer = full.clone();
    let t = thread::spawn(move || {
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(300));
            *writer.0.lock().unwrap() += 1; // a small lot: nobody is woken
        }
    });
    for round in 0..2 {
        let rows = full.0.lock().unwrap();
        let (mut rows, limit) = full.1.wait_timeout_while(rows, Duration::from_secs(33), |n| *n < 100).unwrap();
        println!("flush {}: {} rows, limit {}", round, rows, limit.timed_out());
        *rows = 0;
    }
    t.join().unwrap();
}
