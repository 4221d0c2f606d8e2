// A cell is borrowed anew while it is borrowed, in a callback of the trainer.
use std::{cell::RefCell, thread, time::Duration};

fn log(history: &RefCell<Vec<f64>>, loss: f64) {
    history.borrow_mut().push(loss);
}

fn main() {
    let history = RefCell::new(Vec::new());
    for step in 0..120 {
        thread::sleep(Duration::from_millis(100));
        let loss = 2.5 / (1.0 + 0.1 * step as f64);
        if step % 5 == 0 {
            println!("step {step} loss {loss:.4}");
        }
        if step == 70 {
            for old in history.borrow().iter() {
                log(&history, loss - old);
            }
        }
        log(&history, loss);
    }
}
