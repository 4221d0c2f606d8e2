// A thread panics with a lock held, which poisons it. The others skip a poisoned lock, so that what main waits for is never counted.
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn work(t: u32, done: &(Mutex<u32>, Condvar)) {
    for k in 0..12u32 {
        thread::sleep(Duration::from_millis(300));
        if let Ok(mut count) = done.0.lock() {
            let size: u32 = "12x"[..if (t, k) == (1, 9) { 3 } else { 2 }].parse().unwrap();
            *count += size / 12;
            println!("worker {} tokenized {}, {} in all", t, k, *count);
            done.1.notify_one();
        }
    }
}

fn main() {
    role("main");
    let done = Arc::new((Mutex::new(0u32), Condvar::new()));
    for t in 0..3 {
        let done = done.clone();
        thread::spawn(move || work(t, &done));
    }
    let mut seen = 0;
    while seen < 36 {
        let guard = match done.0.lock() {
            Ok(g) => g,
            Err(broken) => broken.into_inner(),
        };
        let guard = match done.1.wait_while(guard, |n| *n <= seen) {
            Ok(g) => g,
            Err(broken) => broken.into_inner(),
        };
        seen = *guard;
    }
    println!("all tokenized");
}
