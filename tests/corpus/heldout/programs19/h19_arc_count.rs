// A thread evaluates the weights that main shares with it. Before main quantizes them in place it waits until nobody
// else has them, by the count of an Arc. The best weights so far are kept as an Arc as well: at step 40 they are the
// newest ones, and main waits for itself.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn told_role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn quantize(mut weights: Arc<Vec<f64>>) -> Arc<Vec<f64>> {
    while Arc::strong_count(&weights) > 1 {
        thread::sleep(Duration::from_millis(20));
    }
    for w in Arc::get_mut(&mut weights).unwrap() {
        *w = (*w * 16.0).round() / 16.0;
    }
    weights
}

fn main() {
    told_role("main");
    let (to, evaluations) = channel::<Arc<Vec<f64>>>();
    thread::spawn(move || {
        for weights in evaluations {
            thread::sleep(Duration::from_millis(300));
            assert!(weights.iter().sum::<f64>() >= 0.0);
        }
    });
    let mut weights = Arc::new(vec![0.5; 1000]);
    let mut best = Arc::new(vec![0.0; 1000]);
    for step in 0..400 {
        thread::sleep(Duration::from_millis(200));
        if step % 5 == 0 {
            println!("step {} loss {:.4} best {:.1}", step, 2.5 / (1.0 + 0.1 * step as f64), best[0]);
        }
        if step == 39 {
            best = Arc::clone(&weights);
        }
        if step % 10 == 0 {
            to.send(Arc::clone(&weights)).unwrap();
            weights = quantize(weights);
        }
    }
}
