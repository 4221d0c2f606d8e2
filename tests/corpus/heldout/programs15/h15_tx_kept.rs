// Three threads read shards and send batches by a channel; main takes them until all senders are gone. It has
// cloned its own sender for each thread, and keeps that one: after the last batch it waits for ever.
use std::io::Write;
use std::{env, fs, process, sync::mpsc, thread, time::Duration};

fn role(name: &str) {
    if let Ok(path) = env::var("CORPUS_ROLES") {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{name} {}", process::id()).unwrap();
    }
}

fn main() {
    role("main");
    let (sender, batches) = mpsc::channel::<Vec<f32>>();
    let readers: Vec<_> = (0..3)
        .map(|shard| {
            let sender = sender.clone();
            thread::spawn(move || {
                for k in 0..30 {
                    thread::sleep(Duration::from_millis(330));
                    sender.send(vec![(shard * k) as f32; 512]).unwrap();
                }
            })
        })
        .collect();
    for (step, batch) in batches.iter().enumerate() {
        if step % 5 == 0 {
            println!("step {step} loss {:.4}", batch.len() as f32 / (step + 200) as f32);
        }
    }
    readers.into_iter().for_each(|r| r.join().unwrap());
    println!("training done");
}
