// process::abort after a line
use std::{thread, time::Duration};
fn train(n: u32) { for i in 0..n { println!("step {i}"); thread::sleep(Duration::from_millis(20)); } }
fn main() { train(60); eprintln!("fatal: arena of 4 GiB is full"); std::process::abort(); }
