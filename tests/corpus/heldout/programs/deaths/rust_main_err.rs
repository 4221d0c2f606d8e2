// main returns an Err
use std::{thread, time::Duration};
fn train(n: u32) { for i in 0..n { println!("step {i}"); thread::sleep(Duration::from_millis(20)); } }
fn main() -> Result<(), Box<dyn std::error::Error>> { train(60); let n: i32 = "12x".parse()?; println!("{n}"); Ok(()) }
