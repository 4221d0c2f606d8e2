// A thread panics while it has the lock of the metrics; main then finds the lock poisoned.
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

fn mean(losses: &[f64], window: usize) -> f64 {
    losses[losses.len() - window..].iter().sum::<f64>() / window as f64
}

fn main() {
    let metrics = Arc::new(Mutex::new(vec![0.5; 3]));
    let other = Arc::clone(&metrics);
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(3000));
        let losses = other.lock().unwrap();
        println!("mean {:.3}", mean(&losses[..3].iter().map(|x| x * 2.0).collect::<Vec<_>>(), losses.len()));
    });
    for step in 0..60 {
        thread::sleep(Duration::from_millis(100));
        metrics.lock().unwrap().push(2.5 / (1.0 + step as f64));
        if step % 5 == 0 {
            println!("step {} loss {:.4}", step, 2.5 / (1.0 + 0.1 * step as f64));
        }
    }
}
