// One Rust process: batches go into a bounded channel; its receiver waits on a condition for room that nobody makes.
use std::io::Write;
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    if let Ok(p) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(p).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let room = Arc::new((Mutex::new(28i32), Condvar::new()));
    let (tx, rx) = mpsc::sync_channel::<u32>(3);
    let r2 = room.clone();
    thread::Builder::new().name("packer".into()).spawn(move || {
        for _ in rx {
            let mut left = r2.0.lock().unwrap();
            while *left == 0 {
                left = r2.1.wait(left).unwrap();
            }
            *left -= 1;
        }
    }).unwrap();
    thread::spawn(|| loop { thread::sleep(Duration::from_secs(1)) });
    for i in 0.. {
        thread::sleep(Duration::from_millis(350));
        tx.send(i).unwrap();
        println!("step {} loss={:.4}", i, 2.0 / (1.0 + i as f64));
    }
    drop(room);
}
