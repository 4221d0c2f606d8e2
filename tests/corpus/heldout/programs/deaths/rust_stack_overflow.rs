// recursion without end
use std::{thread, time::Duration};
fn train(n: u32) { for i in 0..n { println!("step {i}"); thread::sleep(Duration::from_millis(20)); } }
#[inline(never)] fn walk(n: u64) -> u64 { let a = [n; 64]; std::hint::black_box(&a); walk(n + 1) + a[3] }
fn main() { train(60); println!("{}", walk(0)); }
