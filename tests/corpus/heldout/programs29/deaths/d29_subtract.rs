// The window is longer than the last document.
use std::io::Write;
use std::{thread, time};

fn starts(length: usize, window: usize) -> usize {
    length - window
}

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let mut all = 0;
    for step in 0..200usize {
        all += starts(300 - step * 10, 64);
        if step % 5 == 0 {
            println!("step {} windows {}", step, all);
        }
        thread::sleep(time::Duration::from_millis(80));
    }
}
