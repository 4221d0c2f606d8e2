// an index beyond the end
use std::{thread, time::Duration};
fn train(n: u32) { for i in 0..n { println!("step {i}"); thread::sleep(Duration::from_millis(20)); } }
fn main() { train(60); let v = vec![1, 2, 3]; let i = std::env::args().count() + 9; println!("{}", v[i]); }
