// A thread holds a lock for writing while it compacts for 60 s; the readers wait for it.
use std::io::Write;
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn main() {
    role("main");
    let index = Arc::new(RwLock::new(vec![1u64; 4096]));
    let shared = index.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(3100));
        let mut rows = shared.write().unwrap();
        for k in 0..600 {
            rows[k] = k as u64;
            thread::sleep(Duration::from_millis(100));
        }
    });
    for step in 0..40 {
        thread::sleep(Duration::from_millis(200));
        println!("query {}: {}", step, index.read().unwrap().iter().sum::<u64>());
    }
}
