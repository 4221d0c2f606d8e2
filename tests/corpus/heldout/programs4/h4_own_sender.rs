// Workers send their rows; the collector reads until all senders are gone, and has one itself.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn note(role: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", role, std::process::id()).unwrap();
    }
}

fn main() {
    note("main");
    let (sender, receiver) = mpsc::channel();
    for worker in 0..3 {
        let sender = sender.clone();
        thread::spawn(move || {
            for row in 0..8 {
                thread::sleep(Duration::from_millis(300));
                sender.send((worker, row)).unwrap();
            }
        });
    }
    let mut rows = 0;
    for (worker, row) in receiver {
        rows += 1;
        println!("row {} of worker {}", row, worker);
    }
    drop(sender);
    println!("{} rows", rows);
}
