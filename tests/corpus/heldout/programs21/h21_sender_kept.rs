// Four threads load batches and send them by a channel, whose end is when all senders are gone. Each thread has a clone of
// the sender, and main keeps the first one: when all threads have ended it waits for a next batch.
// With "slow" main gives its sender away, and one batch takes 48 s.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn load(worker: u64, k: u64, slow: bool) -> u64 {
    let late = slow && worker == 3 && k == 9;
    thread::sleep(Duration::from_millis(if late { 48000 } else { 800 }));
    worker * 100 + k
}

fn main() {
    role("main");
    let slow = std::env::args().any(|a| a == "slow");
    let (sender, batches) = mpsc::channel();
    let mut kept = Some(sender);
    for worker in 0..4 {
        let sender = kept.as_ref().unwrap().clone();
        thread::spawn(move || {
            for k in 0..10 {
                sender.send(load(worker, k, slow)).unwrap();
            }
        });
    }
    if slow {
        kept.take();
    }
    let mut step = 0;
    for batch in batches {
        if step % 5 == 0 {
            println!("step {} batch {}", step, batch);
        }
        step += 1;
    }
    println!("{} steps", step);
    drop(kept);
}
