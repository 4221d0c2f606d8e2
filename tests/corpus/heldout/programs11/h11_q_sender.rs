// Main receives until no sender is left; one of the workers counts a large shard for 52 s.
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let (tx, rx) = mpsc::channel::<u64>();
    for w in 0..3u64 {
        let tx = tx.clone();
        thread::spawn(move || {
            for shard in 0..12u64 {
                let ms = if w == 1 && shard == 11 { 52000 } else { 300 };
                thread::sleep(Duration::from_millis(ms));
                tx.send(shard).unwrap();
            }
        });
    }
    drop(tx);
    let mut shards = 0;
    for _ in rx {
        shards += 1;
        println!("{shards} shards counted");
    }
    println!("vocabulary written");
}
