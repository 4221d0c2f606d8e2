// Two threads take two mutexes in opposite order.
use std::sync::{Arc, Mutex};
use std::{thread, time::Duration};

fn both(a: Arc<Mutex<i32>>, b: Arc<Mutex<i32>>) {
    let _a = a.lock().unwrap();
    thread::sleep(Duration::from_millis(500));
    let _b = b.lock().unwrap();
}

fn main() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    for i in 0..8 {
        println!("step {} loss {}", i, 1.0 / (1 + i) as f64);
        thread::sleep(Duration::from_millis(300));
    }
    let (c, d) = (b.clone(), a.clone());
    let t = thread::spawn(move || both(c, d));
    both(a, b);
    t.join().unwrap();
}
