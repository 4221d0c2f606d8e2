// A thread computes for 64 s under a mutex, main and another one want it.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn compute(seconds: f64) -> f64 {
    let (begin, mut x) = (Instant::now(), 1.0f64);
    while begin.elapsed().as_secs_f64() < seconds {
        for k in 0..100000 {
            x = x * 0.9999 + k as f64;
        }
    }
    x
}

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let table = Arc::new(Mutex::new(0.0));
    let work = |k: usize, table: Arc<Mutex<f64>>| {
        for n in 0..20 {
            thread::sleep(Duration::from_millis(150));
            let mut t = table.lock().unwrap();
            *t += compute(if k == 1 && n == 12 { 64.0 } else { 0.01 });
            println!("thread {} row {}", k, n);
        }
    };
    let others: Vec<_> = (1..3).map(|k| { let t = table.clone(); thread::spawn(move || work(k, t)) }).collect();
    work(0, table.clone());
    others.into_iter().for_each(|t| t.join().unwrap());
}
