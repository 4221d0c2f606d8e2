// A reader keeps the table's lock for reading while it waits for a refresh by a thread that wants the lock for writing.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc::channel;
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Duration;

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let table = Arc::new(RwLock::new(vec![0u64; 20]));
    let (ask, asked) = channel::<usize>();
    let (fresh, done) = channel::<usize>();
    let writer = table.clone();
    thread::spawn(move || {
        for row in asked.iter() {
            thread::sleep(Duration::from_millis(50));
            let mut t = writer.write().unwrap();
            if row >= t.len() {
                t.resize(row + 10, 0);
            }
            t[row] += 1;
            fresh.send(row).unwrap();
        }
    });
    for row in 0.. {
        thread::sleep(Duration::from_millis(200));
        let known = table.read().unwrap().len();
        if row < known {
            println!("row {} of {}", row, known);
            continue;
        }
        let t = table.read().unwrap();
        ask.send(row).unwrap();
        let got = done.recv().unwrap();
        println!("row {} made, {}", got, t.len());
    }
}
