// Two stages, joined by bounded channels in both directions: work down, credits and hints up. Both are full.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

fn parse(down: SyncSender<u64>, up: Receiver<u64>) {
    let mut hints = 0;
    for line in 0.. {
        thread::sleep(Duration::from_millis(20));
        down.send(line).unwrap();
        if line % 40 == 0 {
            // hints are read in lots
            while let Ok(h) = up.try_recv() {
                hints += h;
            }
            println!("parsed {} hints {}", line, hints);
        }
    }
}

fn index(down: Receiver<u64>, up: SyncSender<u64>) {
    for line in down.iter() {
        let many = if line < 320 { line % 30 == 0 } else { true };
        if many {
            up.send(line).unwrap();
        }
    }
}

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let (down, from_parser) = sync_channel(4);
    let (up, to_parser) = sync_channel(8);
    let indexer = thread::spawn(move || index(from_parser, up));
    parse(down, to_parser);
    indexer.join().unwrap();
}
