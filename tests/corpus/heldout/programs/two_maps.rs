// Two threads lock two maps in opposite order; a heartbeat thread lives on.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;
fn main() {
    let a = Arc::new(Mutex::new(HashMap::<u32, u32>::new()));
    let b = Arc::new(Mutex::new(HashMap::<u32, u32>::new()));
    spawn(|| loop {
        sleep(Duration::from_secs(1));
    });
    for i in 0..16 {
        sleep(Duration::from_millis(250));
        a.lock().unwrap().insert(i, i);
        println!("step {} loss {:.3}", i, 1.0 / (i as f64 + 1.0));
    }
    let (a2, b2) = (a.clone(), b.clone());
    let t = spawn(move || {
        let _g = b2.lock().unwrap();
        sleep(Duration::from_millis(500));
        let _h = a2.lock().unwrap();
    });
    let g = a.lock().unwrap();
    sleep(Duration::from_millis(500));
    let h = b.lock().unwrap();
    drop((g, h));
    t.join().unwrap();
}
