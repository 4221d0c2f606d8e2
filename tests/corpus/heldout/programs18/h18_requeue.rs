// A thread tokenizes documents that come by a channel, and puts those that fail back into it, for which it has a sender
// of its own. main sends all of them, drops its sender, and counts on the channel's end for the thread to leave. It does
// not come, as the thread's own sender is there; main waits for more results. With "slow" the thread drops its sender
// before the last document, and takes 48 s for it.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc::{channel, Receiver, Sender};
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

fn tokenize(documents: Receiver<usize>, again: Sender<usize>, results: Sender<usize>, slow: bool) {
    let mut again = Some(again);
    for document in documents {
        if document == 17 {
            if let Some(sender) = &again {
                sender.send(1017).unwrap();
            }
            continue;
        }
        if slow && document == 44 {
            again = None;
            work(48.0);
        }
        work(0.2);
        results.send(document).unwrap();
    }
}

fn main() {
    told_role("main");
    let slow = std::env::args().any(|a| a == "slow");
    let (send, documents) = channel();
    let (done, results) = channel();
    let again = send.clone();
    let tokenizer = thread::Builder::new().name("tokenizer".into());
    let tokenizer = tokenizer.spawn(move || tokenize(documents, again, done, slow)).unwrap();
    for document in 0..45 {
        send.send(document).unwrap();
    }
    drop(send);
    for (step, _) in results.iter().enumerate() {
        if step % 5 == 0 {
            println!("step {} loss {:.3}", step, 2.5 / (1.0 + 0.1 * step as f64));
        }
    }
    tokenizer.join().unwrap();
    println!("all documents tokenized");
}
