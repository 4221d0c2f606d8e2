// One silent Rust process: the thread that reads the table wants to write it before it has let go of its read lock.
use std::io::Write;
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Duration;

fn refresh(table: &RwLock<Vec<f64>>, step: usize) {
    let t = table.read().unwrap();
    if t[step % t.len()] < 0.05 {
        table.write().unwrap()[step % 16] = 1.0;
    }
}

fn main() {
    if let Ok(p) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(p).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let table = Arc::new(RwLock::new(vec![1.0f64; 16]));
    let t2 = table.clone();
    thread::spawn(move || loop {
        thread::sleep(Duration::from_millis(90));
        for x in t2.write().unwrap().iter_mut() {
            *x *= 0.97;
        }
    });
    for i in 0.. {
        thread::sleep(Duration::from_millis(300));
        refresh(&table, i);
    }
}
