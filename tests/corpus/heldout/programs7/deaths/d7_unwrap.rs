use std::{fs::File, thread::sleep, time::Duration};

fn main() {
    for n in 0..8 {
        println!("part {} packed", n);
        sleep(Duration::from_millis(120));
    }
    File::open("vocab/merges.txt").unwrap();
}
