// A thread that packs samples finds an empty shard and panics; main joins it and unwraps.
use std::thread;
use std::time::Duration;

fn pack(sizes: Vec<usize>) -> usize {
    let mut packed = 0;
    for (n, size) in sizes.iter().enumerate() {
        thread::sleep(Duration::from_millis(400));
        if *size == 0 {
            panic!("shard {} has no samples", n);
        }
        packed += 4096 / size;
    }
    packed
}

fn main() {
    let packer = thread::spawn(|| pack(vec![16, 8, 32, 8, 0, 16]));
    for step in 0..6 {
        println!("step {}", step * 5);
        thread::sleep(Duration::from_millis(400));
    }
    println!("{} packed", packer.join().unwrap());
}
