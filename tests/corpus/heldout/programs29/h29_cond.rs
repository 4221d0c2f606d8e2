// A training in Rust with a thread that decodes the next epoch's samples. It sets `ready` and notifies; main takes the lock later and waits
// without a look at `ready`, as it was so always: decoding took longer than an epoch. One epoch is short.
//
// slow: main looks at `ready` first; an epoch takes 67 s to be decoded.
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const STALL: usize = 8;

struct Next {
    ready: Mutex<bool>,
    change: Condvar,
}

fn note(role: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        if let Ok(mut f) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
            let _ = writeln!(f, "{} {}", role, std::process::id());
        }
    }
}

fn crunch(seconds: f64) -> f64 {
    let end = Instant::now() + Duration::from_secs_f64(seconds * 0.15);
    let mut x = 1.0;
    while Instant::now() < end {
        for k in 0..1000 {
            x = x * 0.999 + k as f64;
        }
    }
    thread::sleep(Duration::from_secs_f64(seconds * 0.85));
    x
}

fn decode(next: Arc<Next>, epoch: usize, slow: bool) {
    let seconds = if epoch != STALL { 3.0 } else if slow { 67.0 } else { 0.3 };
    let mut done = 0.0;
    while done < seconds {
        crunch(0.1);
        done += 0.1;
    }
    *next.ready.lock().unwrap() = true;
    next.change.notify_one();
}

fn wait_for(next: &Next, slow: bool) {
    let mut ready = next.ready.lock().unwrap();
    if slow {
        while !*ready {
            ready = next.change.wait(ready).unwrap();
        }
    } else {
        ready = next.change.wait(ready).unwrap();
    }
    *ready = false;
}

fn main() {
    let slow = std::env::args().nth(1).as_deref() == Some("slow");
    note("main");
    let next = Arc::new(Next { ready: Mutex::new(false), change: Condvar::new() });
    let epochs = if slow { STALL + 5 } else { 4000 };
    let mut loss = 4.0;
    for epoch in 0..epochs {
        let theirs = next.clone();
        let decoder = thread::spawn(move || decode(theirs, epoch, slow));
        for batch in 0..5 {
            crunch(0.25);
            loss *= 0.995;
            if batch % 2 == 0 {
                println!("epoch {:3} batch {} loss {:.5}", epoch, batch, loss);
            }
        }
        wait_for(&next, slow);
        decoder.join().unwrap();
    }
}
