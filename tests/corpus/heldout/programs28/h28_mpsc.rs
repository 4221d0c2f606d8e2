// A preparation with three threads that send rows to main. The threads end when the files are read, and main goes on to receive: it has
// kept the sender that it cloned for them, so the channel never closes. slow: the last file is on a slow mount for 66 s.
use std::io::Write;
use std::sync::mpsc;
use std::{env, fs, process, thread, time::Duration};

fn note(name: &str) {
    if let Ok(path) = env::var("CORPUS_ROLES") {
        if let Ok(mut f) = fs::OpenOptions::new().append(true).create(true).open(path) {
            let _ = writeln!(f, "{} {}", name, process::id());
        }
    }
}

fn main() {
    note("main");
    let slow = env::args().any(|a| a == "slow");
    let (tx, rx) = mpsc::channel::<usize>();
    for file in 0..3 {
        let tx = tx.clone();
        thread::spawn(move || {
            for row in 0..40 {
                thread::sleep(Duration::from_millis(600));
                if slow && file == 2 && row == 35 {
                    thread::sleep(Duration::from_secs(66));
                }
                tx.send(row).unwrap();
            }
        });
    }
    let keep = if slow { drop(tx); None } else { Some(tx) };
    let mut n = 0;
    while let Ok(row) = rx.recv() {
        n += 1;
        if n % 10 == 0 {
            println!("rows {} last {} loss {:.3}", n, row, 2.0 / n as f64);
        }
    }
    println!("rows: {}", n);
    drop(keep);
}
