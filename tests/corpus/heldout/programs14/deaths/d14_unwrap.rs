// A word is looked up that the vocabulary does not have.
use std::collections::HashMap;
use std::{thread, time::Duration};

fn main() {
    let vocabulary: HashMap<String, usize> = (0..1000).map(|k| (format!("w{k}"), k)).collect();
    for step in 0..100 {
        let word = if step == 70 { "<pad>".to_string() } else { format!("w{step}") };
        let id = vocabulary.get(&word).expect("token <pad> is not in the vocabulary");
        if step % 5 == 0 {
            println!("step {step} id {id}");
        }
        thread::sleep(Duration::from_millis(100));
    }
}
