// Three readers send lines to main, which counts them until all senders are gone. Main has kept the first sender itself.
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn note(role: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        if let Ok(mut f) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
            let _ = writeln!(f, "{} {}", role, std::process::id());
        }
    }
}

fn main() {
    note("main");
    let (to, from) = mpsc::sync_channel::<usize>(16);
    let readers: Vec<_> = (0..3)
        .map(|r| {
            let to = to.clone();
            thread::spawn(move || {
                for n in 0..30 {
                    thread::sleep(Duration::from_millis(200));
                    to.send(r * 100 + n).unwrap();
                }
            })
        })
        .collect();
    let mut tokens = 0;
    for line in from {
        tokens += line % 17;
        println!("line {:3}: {} tokens", line, tokens);
    }
    for r in readers {
        r.join().unwrap();
    }
    drop(to);
}
