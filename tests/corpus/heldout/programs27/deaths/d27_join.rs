// A worker's thread panics; main unwraps its join.
use std::{thread, time::Duration};

fn main() {
    for step in 0..30 {
        thread::sleep(Duration::from_millis(100));
        if step % 5 == 0 {
            println!("step {}", step);
        }
    }
    let worker = thread::spawn(|| {
        let merges: Result<u32, String> = Err("merges.txt: line 48895 has three words".to_string());
        merges.expect("tokenizer")
    });
    println!("{}", worker.join().unwrap());
}
