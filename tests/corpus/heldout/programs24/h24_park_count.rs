// A training parks its thread once for each of two pieces that two threads make, and is unparked once for each. To be
// unparked is no count: when both are ready before it parks for the first time, one of the two is lost.
use std::io::Write;
use std::sync::mpsc::{channel, Receiver};
use std::thread::{self, Thread};
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn make_pieces(asked: Receiver<u64>, delay: u64, trainer: Thread) {
    for _ in asked {
        thread::sleep(Duration::from_millis(delay));
        trainer.unpark();
    }
}

fn wait_for_pieces() {
    for _ in 0..2 {
        thread::park();
    }
}

fn main() {
    role("main");
    let mut makers = Vec::new();
    for delay in [60, 140] {
        let (ask, asked) = channel();
        let trainer = thread::current();
        thread::spawn(move || make_pieces(asked, delay, trainer));
        makers.push(ask);
    }
    for step in 0..2000u64 {
        for maker in &makers {
            maker.send(step).unwrap();
        }
        if step >= 38 {
            thread::sleep(Duration::from_millis(400));
        }
        wait_for_pieces();
        thread::sleep(Duration::from_millis(40));
        if step % 5 == 0 {
            println!("step {} loss {:.3}", step, 1.0 / (1 + step) as f64);
        }
    }
}
