// a map of Rust that keeps everything
use std::{collections::HashMap, io::Write, thread, time::Duration};
fn main() {
    let mut f = std::fs::OpenOptions::new().append(true).create(true).open(std::env::var("CORPUS_ROLES").unwrap()).unwrap();
    writeln!(f, "main {}", std::process::id()).unwrap();
    let mut m: HashMap<u64, Vec<u8>> = HashMap::new();
    for i in 0..4000u64 {
        m.insert(i, vec![1; 1 << 20]);
        thread::sleep(Duration::from_millis(10));
    }
    println!("{}", m.len());
}
