// A window is larger than what there is: the difference of two counts is below zero.
use std::time::Duration;

fn windows(tokens: usize, size: usize) -> usize {
    tokens - size + 1
}

fn main() {
    let lengths: Vec<usize> = (0..60).map(|k| if k == 24 { 90 } else { 512 + k }).collect();
    for (step, tokens) in lengths.iter().enumerate() {
        std::thread::sleep(Duration::from_millis(100));
        let n = windows(*tokens, 128);
        if step % 5 == 0 {
            println!("step {} windows {}", step, n);
        }
    }
}
