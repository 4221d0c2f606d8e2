// The receiver's loop ends when all senders are gone; the main thread keeps one itself.
use std::sync::mpsc;
use std::{thread, time::Duration};

fn main() {
    let (tx, rx) = mpsc::channel();
    for w in 0..2 {
        let tx = tx.clone();
        thread::spawn(move || {
            for i in 0..5 {
                thread::sleep(Duration::from_millis(400));
                tx.send(w * 5 + i).unwrap();
            }
        });
    }
    for (i, _) in rx.iter().enumerate() {
        println!("step {} loss {}", i, 1.0 / (1.0 + i as f64));
    }
    drop(tx);
}
