// A thread panics as an id is out of the table; main unwraps its join and panics as well.
use std::thread;
use std::time::Duration;

fn lookup(table: &[f32], ids: &[usize]) -> f32 {
    ids.iter().map(|&id| table[id]).sum()
}

fn main() {
    for step in 0..8 {
        thread::sleep(Duration::from_millis(150));
        println!("step {step}");
    }
    let worker = thread::spawn(|| lookup(&vec![0.5; 32000], &[5, 17, 32004]));
    println!("sum {}", worker.join().unwrap());
}
