// A trainer takes shards from a list under a lock, in the head of an `if let`; a shard that is too small is put back
// for later, under the same lock, which the head still holds until the end of its block.
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{} {}", name, std::process::id()).unwrap();
    }
}

fn next_rows(shards: &Mutex<Vec<usize>>) -> usize {
    if let Some(rows) = shards.lock().unwrap().pop() {
        if rows < 10 {
            shards.lock().unwrap().insert(0, rows);
            return 0;
        }
        return rows;
    }
    0
}

fn main() {
    role("main");
    let mut sizes = vec![64; 100];
    sizes[55] = 3;
    let shards = Mutex::new(sizes);
    for step in 0..90 {
        let rows = next_rows(&shards);
        thread::sleep(Duration::from_millis(200));
        if step % 5 == 0 {
            println!("step {} loss {:.4} rows {}", step, 2.5 / (1.0 + 0.1 * step as f64), rows);
        }
    }
}
