use std::thread;
use std::time::Duration;

fn main() {
    let t = thread::Builder::new().name("loader".into()).spawn(|| {
        let rows = vec![0u8; 8];
        for n in 0.. {
            println!("row {} {}", n, rows[n]);
            thread::sleep(Duration::from_millis(200));
        }
    });
    t.unwrap().join().unwrap();
}
