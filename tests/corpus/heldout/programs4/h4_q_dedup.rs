// Removes duplicates in threads; main joins them. No output for more than a minute.
use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    println!("removing duplicates");
    let threads: Vec<_> = (0..2u64)
        .map(|k| {
            thread::spawn(move || {
                let end = Instant::now() + Duration::from_secs(66);
                let (mut seen, mut x) = (HashSet::new(), k + 1);
                while Instant::now() < end {
                    for _ in 0..10000 {
                        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        seen.insert(x >> 45);
                    }
                }
                seen.len()
            })
        })
        .collect();
    let n: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
    println!("{} kept", n);
}
