// Readers send rows over a channel with room for 64; main joins them and then takes the rows. The shards of the first
// epochs are small. That of the fifth is not: its reader waits for room, and main for the reader.
use std::io::Write;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let f = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let _ = writeln!(f.unwrap(), "{} {}", name, std::process::id());
    }
}

fn main() {
    role("main");
    for epoch in 0..10 {
        let (sender, rows) = sync_channel::<u64>(64);
        let readers: Vec<_> = (0..3u64)
            .map(|k| {
                let sender = sender.clone();
                let size = if epoch == 5 && k == 1 { 90 } else { 20 };
                thread::Builder::new().name(format!("reader-{}", k)).spawn(move || {
                    for i in 0..size {
                        thread::sleep(Duration::from_millis(30));
                        sender.send(k * 1000 + i).unwrap();
                    }
                }).unwrap()
            })
            .collect();
        drop(sender);
        for r in readers {
            r.join().unwrap();
        }
        println!("epoch {}: {} rows", epoch, rows.iter().count());
    }
}
