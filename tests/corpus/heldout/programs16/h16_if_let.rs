// A scheduler of evaluation jobs. The queue's lock is taken in the head of an `if let`, and lasts as long as its body.
// A job that fails is to be tried again: the body puts it back, and takes the lock that its own thread has.
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

struct Job {
    number: u32,
    tries: u32,
}

fn told_role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn evaluate(job: &Job) -> bool {
    thread::sleep(Duration::from_millis(200));
    job.number != 45 || job.tries > 0
}

fn main() {
    told_role("main");
    let jobs = Arc::new(Mutex::new(VecDeque::new()));
    for number in 0..200 {
        jobs.lock().unwrap().push_back(Job { number, tries: 0 });
    }
    let watched = jobs.clone();
    thread::spawn(move || loop {
        thread::sleep(Duration::from_secs(3));
        if let Ok(left) = watched.try_lock() {
            if left.is_empty() {
                return;
            }
        }
    });
    loop {
        if let Some(job) = jobs.lock().unwrap().pop_front() {
            if job.number % 5 == 0 {
                println!("step {}", job.number);
            }
            if !evaluate(&job) {
                jobs.lock().unwrap().push_back(Job { number: job.number, tries: job.tries + 1 });
            }
        } else {
            break;
        }
    }
    println!("all evaluated");
}
