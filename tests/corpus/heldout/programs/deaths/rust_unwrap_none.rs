// unwrap of None
use std::{thread, time::Duration};
fn train(n: u32) { for i in 0..n { println!("step {i}"); thread::sleep(Duration::from_millis(20)); } }
fn main() { train(60); let v: Vec<u32> = std::env::args().skip(5).map(|_| 1).collect(); println!("{}", v.first().unwrap()); }
