use std::{thread::sleep, time::Duration};

fn depth(n: u64) -> u64 {
    let part = [n; 512];
    if n == u64::MAX { 0 } else { part[(n % 512) as usize] + depth(n + 1) }
}

fn main() {
    for n in 0..8 {
        println!("merge {} applied", n);
        sleep(Duration::from_millis(120));
    }
    println!("{}", depth(1));
}
