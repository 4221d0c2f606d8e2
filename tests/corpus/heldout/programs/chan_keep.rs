// The receiver waits on a channel whose last sender it keeps itself.
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
fn main() {
    let (tx, rx) = mpsc::channel::<u32>();
    let feed = tx.clone();
    thread::spawn(move || {
        for i in 0..16 {
            thread::sleep(Duration::from_millis(250));
            feed.send(i).unwrap();
        }
    });
    for i in rx.iter() {
        println!("step {} loss {:.3}", i, 1.0 / (i as f64 + 1.0));
    }
    drop(tx);
}
