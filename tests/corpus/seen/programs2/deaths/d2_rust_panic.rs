use std::{thread, time::Duration};
#[derive(Debug)]
enum Bad { InvalidHeader(&'static str) }
fn read() -> Result<u32, Bad> { Err(Bad::InvalidHeader("safetensors header is too short")) }
fn main() {
    for i in 0..10 { println!("step {} loss {:.3}", i, 2.0 / (i as f64 + 1.0)); thread::sleep(Duration::from_millis(50)); }
    let t = thread::spawn(|| read().unwrap());
    t.join().unwrap();
}
