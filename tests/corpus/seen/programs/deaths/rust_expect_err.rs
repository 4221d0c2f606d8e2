// expect of an error
use std::{thread, time::Duration};
fn train(n: u32) { for i in 0..n { println!("step {i}"); thread::sleep(Duration::from_millis(20)); } }
fn main() { train(60); let t = std::fs::read_to_string("/data/tokenizer.json").expect("tokenizer.json"); println!("{}", t.len()); }
