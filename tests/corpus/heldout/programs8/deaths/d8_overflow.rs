// A thread multiplies more than fits; main unwraps its result.
use std::thread;
use std::time::Duration;

fn main() {
    let count: u8 = std::env::args().count() as u8 + 99;
    let worker = thread::spawn(move || {
        for s in 0..10 {
            println!("shard {}", s);
            thread::sleep(Duration::from_millis(100));
        }
        count * 3
    });
    println!("{}", worker.join().unwrap());
}
