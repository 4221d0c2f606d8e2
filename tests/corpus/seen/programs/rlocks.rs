// One process: the cache thread and the trainer of a Rust job take two mutexes in opposite order.
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;

fn main() {
    if let Ok(p) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(p).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let cache = Arc::new(Mutex::new(0u64));
    let index = Arc::new(Mutex::new(0u64));
    let (c, x) = (cache.clone(), index.clone());
    spawn(move || loop { sleep(Duration::from_secs(1)); });
    let evict = spawn(move || {
        sleep(Duration::from_secs(4));
        loop {
            let i = x.lock().unwrap();
            sleep(Duration::from_millis(300));
            let mut k = c.lock().unwrap();
            *k += *i;
        }
    });
    for i in 0..1000 {
        {
            let mut a = cache.lock().unwrap();
            sleep(Duration::from_millis(200));
            *a += 1;
            *index.lock().unwrap() += *a;
        }
        sleep(Duration::from_millis(30));
        println!("step {} loss {:.3}", i, 2.0 / (1.0 + i as f64));
    }
    evict.join().unwrap();
}
