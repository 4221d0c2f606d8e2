// A cache of features behind a mutex. The guard of a lookup lives as long as the `match` around it; in the arm for what is not
// there the main thread locks the same mutex again to put it there. Until step 30 all is there already.
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn make(key: u64) -> f64 {
    std::thread::sleep(Duration::from_millis(50));
    (key as f64).sqrt()
}

fn feature(cache: &Mutex<HashMap<u64, f64>>, key: u64) -> f64 {
    match cache.lock().unwrap().get(&key) {
        Some(x) => *x,
        None => {
            let x = make(key);
            cache.lock().unwrap().insert(key, x);
            x
        }
    }
}

fn main() {
    role("main");
    let cache = Arc::new(Mutex::new((0..30).map(|k| (k, (k as f64).sqrt())).collect::<HashMap<u64, f64>>()));
    let seen = cache.clone();
    std::thread::spawn(move || loop {
        std::thread::sleep(Duration::from_secs(4));
        let _ = std::fs::write("size", seen.lock().unwrap().len().to_string());
    });
    for step in 0..500 {
        std::thread::sleep(Duration::from_millis(200));
        let x = feature(&cache, step);
        if step % 5 == 0 {
            println!("step {} feature {:.3}", step, x);
        }
    }
}
