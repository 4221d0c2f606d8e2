// A reader takes a lock for reading, and again in a function it calls. A writer that came in between waits for the first, and the second
// for the writer.
use std::io::Write;
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn scale(weights: &RwLock<Vec<f64>>) -> f64 {
    weights.read().unwrap().iter().fold(0.0f64, |a, &x| a.max(x.abs()))
}

fn forward(weights: &RwLock<Vec<f64>>, pause: u64) -> f64 {
    let w = weights.read().unwrap();
    thread::sleep(Duration::from_millis(pause));
    w.iter().sum::<f64>() / scale(weights)
}

fn main() {
    role("main");
    let weights = Arc::new(RwLock::new(vec![1.0; 256]));
    let shared = weights.clone();
    thread::spawn(move || loop {
        thread::sleep(Duration::from_millis(2500));
        shared.write().unwrap()[0] += 0.01;
    });
    for step in 0..200 {
        println!("step {} out {:.3}", step, forward(&weights, 250));
    }
}
