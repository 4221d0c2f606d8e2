// A cache is changed while it is read.
use std::cell::RefCell;
use std::collections::HashMap;
use std::{thread, time::Duration};

fn evict(cache: &RefCell<HashMap<u32, f64>>, key: u32) {
    cache.borrow_mut().remove(&key);
}

fn main() {
    let cache = RefCell::new(HashMap::new());
    for step in 0..40u32 {
        cache.borrow_mut().insert(step, 2.5 / (1.0 + step as f64));
        if step % 5 == 0 {
            println!("step {} loss {:.3}", step, cache.borrow()[&step]);
        }
        thread::sleep(Duration::from_millis(80));
        if step == 30 {
            for (&key, &loss) in cache.borrow().iter() {
                if loss > 1.0 {
                    evict(&cache, key);
                }
            }
        }
    }
}
