// A loading thread hands over batches by a channel without room. Main leaves its loop at the wanted number of steps and joins the
// thread while it still holds the receiver: the thread stands in its send.
//
// slow: the receiver is dropped before; the thread writes an index for 64 s when its send fails.
use std::io::Write;
use std::sync::mpsc::sync_channel;
use std::{env, fs, process, thread, time::Duration};

fn main() {
    if let Ok(path) = env::var("CORPUS_ROLES") {
        let mut f = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", process::id()).unwrap();
    }
    let slow = env::args().nth(1).as_deref() == Some("slow");
    let (give, take) = sync_channel::<Vec<u8>>(0);
    let loader = thread::spawn(move || {
        for k in 0u32.. {
            thread::sleep(Duration::from_millis(50));
            if give.send(vec![k as u8; 4096]).is_err() {
                thread::sleep(Duration::from_secs(64));
                return k;
            }
        }
        0
    });
    for step in 0..100 {
        let batch = take.recv().unwrap();
        thread::sleep(Duration::from_millis(200));
        if step % 10 == 0 {
            println!("step {} loss {:.3} ({} bytes)", step, 2.0 / (1 + step) as f64, batch.len());
        }
    }
    if slow {
        drop(take);
        println!("{} batches", loader.join().unwrap());
    } else {
        println!("{} batches", loader.join().unwrap());
        drop(take);
    }
}
