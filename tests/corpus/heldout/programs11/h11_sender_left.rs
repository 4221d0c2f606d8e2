// Workers send counts of tokens to main, which adds them up until no sender is left. It has made the senders by cloning one, and still has that one.
use std::io::Write;
use std::sync::mpsc;
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
    let (tx, rx) = mpsc::channel::<(usize, u64)>();
    let mut workers = Vec::new();
    for w in 0..3usize {
        let tx = tx.clone();
        workers.push(thread::spawn(move || {
            for shard in 0..12u64 {
                thread::sleep(Duration::from_millis(300 + 40 * w as u64));
                tx.send((w, shard * 1000)).unwrap();
            }
        }));
    }
    let mut total = 0;
    for (w, tokens) in rx {
        total += tokens;
        println!("worker {w}: total {total}");
    }
    drop(tx);
    for w in workers {
        w.join().unwrap();
    }
    println!("vocabulary written");
}
