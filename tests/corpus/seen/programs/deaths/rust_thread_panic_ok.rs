// a panic in a thread that nobody joins; the job ends well
use std::{thread, time::Duration};
fn train(n: u32) { for i in 0..n { println!("step {i}"); thread::sleep(Duration::from_millis(20)); } }
fn main() { thread::spawn(|| panic!("metrics endpoint is gone")); train(90); println!("done"); }
