// A trainer has a thread of a scope read shards ahead, as they are asked for by a channel. The scope ends when its
// threads have ended; this one ends when nobody can ask any more, and the sender lives on after the scope, where main
// waits. With "slow" the sender is dropped before, and the last shard takes 48 s.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

fn told_role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn work(seconds: f64) -> f64 {
    let begin = Instant::now();
    let mut x = 1.0;
    while begin.elapsed().as_secs_f64() < seconds {
        for k in 0..100000 {
            x = x * 0.999 + k as f64;
        }
        thread::sleep(Duration::from_millis(30));
    }
    x
}

fn read_ahead(asked: mpsc::Receiver<usize>, slow: bool) -> usize {
    let mut n = 0;
    for shard in asked.iter() {
        work(if slow && shard == 4 { 52.0 } else { 0.5 });
        n += 1;
    }
    n
}

fn train(ask: &mpsc::Sender<usize>) {
    for step in 0..50 {
        if step % 10 == 0 {
            ask.send(step / 10).unwrap();
        }
        work(0.15);
        if step % 5 == 0 {
            println!("step {} loss {:.3}", step, 2.5 / (1.0 + 0.1 * step as f64));
        }
    }
}

fn main() {
    told_role("main");
    let slow = std::env::args().any(|a| a == "slow");
    let (ask, asked) = mpsc::channel();
    let mut ask = Some(ask);
    thread::scope(|scope| {
        thread::Builder::new().name("read-ahead".into()).spawn_scoped(scope, move || read_ahead(asked, slow)).unwrap();
        train(ask.as_ref().unwrap());
        if slow {
            ask = None;
        }
    });
    println!("all shards read");
    drop(ask);
}
