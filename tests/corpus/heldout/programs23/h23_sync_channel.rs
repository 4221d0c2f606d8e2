// An encoder and a ranker, two threads with two channels of four places: samples one way, and those that are hard the
// other way, to be encoded again. The encoder looks at the way back after each eighth sample. When nearly all samples
// are hard both wait for room in the channel that the other one reads.
//
// slow: few are hard, and one sample is ranked for 50 s.
use std::io::Write;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn encode(samples: SyncSender<u64>, hard: Receiver<u64>, last: u64) {
    for step in 0..last {
        thread::sleep(Duration::from_millis(150));
        samples.send(step).unwrap();
        if step % 5 == 0 {
            println!("step {} samples {}", step, 8 * step);
        }
        if step % 16 == 0 {
            while hard.try_recv().is_ok() {}
        }
    }
}

fn rank(samples: Receiver<u64>, hard: SyncSender<u64>, slow: bool) {
    for n in samples {
        thread::sleep(Duration::from_millis(if slow && n == 40 { 50000 } else { 40 }));
        if n % 8 == 0 || (!slow && n > 40) {
            hard.send(n).unwrap();
        }
    }
}

fn main() {
    role("main");
    let slow = std::env::args().nth(1).is_some();
    let (samples, to_rank) = sync_channel(4);
    let (hard, again) = sync_channel(4);
    let encoder = thread::spawn(move || encode(samples, again, if slow { 60 } else { 2000 }));
    let ranker = thread::spawn(move || rank(to_rank, hard, slow));
    encoder.join().unwrap();
    ranker.join().unwrap();
}
