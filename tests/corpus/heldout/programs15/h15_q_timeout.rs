// Main waits for a metric of a thread that is never sent, at most 45 s, and goes on without it.
use std::{sync::mpsc, thread, time::Duration};

fn main() {
    let (sender, metrics) = mpsc::channel::<f32>();
    let (wake, sleeper) = mpsc::channel::<()>();
    let helper = thread::spawn(move || {
        let _ = sleeper.recv();
        drop(sender);
    });
    for step in 0..95 {
        thread::sleep(Duration::from_millis(120));
        if step % 5 == 0 {
            println!("step {step} loss {:.4}", 2.5 / (1.0 + 0.1 * step as f32));
        }
        if step == 60 {
            match metrics.recv_timeout(Duration::from_secs(45)) {
                Ok(x) => println!("validation {x}"),
                Err(e) => println!("no validation ({e}), going on"),
            }
        }
    }
    drop(wake);
    helper.join().unwrap();
}
