// A Rust job: the trainer waits on a condition for its simulator, which needs half a minute for a round.
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let scale: f64 = std::env::var("CORPUS_SCALE").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    if let Ok(p) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(p).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let round = Arc::new((Mutex::new(0), Condvar::new()));
    let r2 = round.clone();
    thread::Builder::new().name("simulator".into()).spawn(move || {
        let mut x = 0.5f64;
        for _ in 0..3 {
            for _ in 0..240 {
                for _ in 0..200_000 {
                    x = 3.7 * x * (1.0 - x);
                }
                thread::sleep(Duration::from_secs_f64(0.1 * scale));
            }
            *r2.0.lock().unwrap() += 1;
            r2.1.notify_one();
        }
        x
    }).unwrap();
    for i in 1..4 {
        let mut n = round.0.lock().unwrap();
        while *n < i {
            n = round.1.wait(n).unwrap();
        }
        println!("round {} loss={:.3}", i, 1.0 / i as f64);
    }
}
