// A cache behind a lock. The lock that a match looks through is held to the end of the match, and one arm takes it again.
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn tokens(cache: &Mutex<HashMap<u32, usize>>, key: u32) -> usize {
    match cache.lock().unwrap().get(&key).copied() {
        Some(n) if n > 0 => n,
        Some(_) => {
            cache.lock().unwrap().remove(&key);
            0
        }
        None => 7,
    }
}

fn main() {
    role("main");
    let cache = Arc::new(Mutex::new((0..20).map(|k| (k, 15 - k.min(15) as usize)).collect::<HashMap<u32, usize>>()));
    let mut threads = Vec::new();
    for t in 0..3u32 {
        let cache = cache.clone();
        threads.push(thread::Builder::new().name(format!("tokenizer-{}", t)).spawn(move || {
            for k in 0..20 {
                thread::sleep(Duration::from_millis(200));
                println!("thread {} text {}: {} tokens", t, k, tokens(&cache, k));
            }
        }).unwrap());
    }
    for t in threads {
        t.join().unwrap();
    }
}
