// The guard of a Mutex lives to the end of a match; one arm of it takes the same lock. Another thread keeps on telling the time.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

fn refill(pool: &Mutex<Vec<u32>>) {
    pool.lock().unwrap().extend(0..20);
}

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let pool = Arc::new(Mutex::new((0..25).collect::<Vec<u32>>()));
    thread::spawn(|| loop {
        thread::sleep(Duration::from_secs(2));
    });
    loop {
        thread::sleep(Duration::from_millis(150));
        match pool.lock().unwrap().pop() {
            Some(n) => println!("lot {}", n),
            None => refill(&pool),
        }
    }
}
