// Readers take one of two permits and give it back by hand. Two of them have panicked between; main joins the others, who wait for permits.
use std::sync::{Arc, Condvar, Mutex};
use std::{env, process, thread, time::Duration};

struct Permits {
    left: Mutex<usize>,
    more: Condvar,
}

impl Permits {
    fn take(&self) {
        let mut left = self.left.lock().unwrap();
        while *left == 0 {
            left = self.more.wait(left).unwrap();
        }
        *left -= 1;
    }
    fn give(&self) {
        *self.left.lock().unwrap() += 1;
        self.more.notify_one();
    }
}

fn read(n: usize) -> usize {
    thread::sleep(Duration::from_millis(150));
    assert!(n % 40 != 39, "shard {} has a bad checksum", n);
    n
}

fn main() {
    if let Ok(path) = env::var("CORPUS_ROLES") {
        use std::io::Write;
        let mut f = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(f, "main {}", process::id()).unwrap();
    }
    let permits = Arc::new(Permits { left: Mutex::new(2), more: Condvar::new() });
    let threads: Vec<_> = (0..4)
        .map(|k| {
            let permits = permits.clone();
            thread::spawn(move || {
                for n in 0..1000 {
                    permits.take();
                    println!("read {}", read(n + if k < 2 { 20 } else { 40 }));
                    permits.give();
                }
            })
        })
        .collect();
    for t in threads {
        let _ = t.join();
    }
}
