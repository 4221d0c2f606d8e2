// A training waits at most 48 s for the score of an evaluation that is not there, and goes on without it.
use std::io::Write;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn told_role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn main() {
    told_role("main");
    let score: Mutex<Option<f64>> = Mutex::new(None);
    let changed = Condvar::new();
    for step in 0..50 {
        thread::sleep(Duration::from_millis(200));
        if step % 5 == 0 {
            println!("step {}", step);
        }
        if step == 30 {
            let guard = score.lock().unwrap();
            let (got, _) = changed.wait_timeout_while(guard, Duration::from_secs(48), |s| s.is_none()).unwrap();
            if got.is_none() {
                println!("no score yet, the old rate is kept");
            }
        }
    }
}
