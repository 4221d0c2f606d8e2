// A log of a training with a thread that writes, which ends when its channel is closed. The log's destructor joins the
// thread; the sending end is a field of the log, and is dropped after the destructor has run.
//
// slow: the end is taken out before, and the thread writes a summary for 50 s.
use std::io::Write;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

struct Log {
    lines: Option<Sender<String>>,
    writer: Option<JoinHandle<usize>>,
    slow: bool,
}

fn write_lines(lines: Receiver<String>, slow: bool) -> usize {
    let count = lines.iter().count();
    if slow {
        thread::sleep(Duration::from_secs(50));
    }
    count
}

impl Log {
    fn new(slow: bool) -> Log {
        let (lines, to_write) = channel();
        let writer = thread::spawn(move || write_lines(to_write, slow));
        Log { lines: Some(lines), writer: Some(writer), slow }
    }

    fn line(&self, text: String) {
        self.lines.as_ref().unwrap().send(text).unwrap();
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.slow {
            self.lines = None;
        }
        let count = self.writer.take().unwrap().join().unwrap();
        println!("{} lines are written", count);
    }
}

fn main() {
    role("main");
    let log = Log::new(std::env::args().nth(1).is_some());
    for step in 0..40 {
        thread::sleep(Duration::from_millis(190));
        log.line(format!("{} {}", step, 1.0 / (1 + step) as f64));
        if step % 5 == 0 {
            println!("step {} loss {:.3}", step, 1.0 / (1 + step) as f64);
        }
    }
}
