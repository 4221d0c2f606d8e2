use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let (send, receive) = channel::<Vec<u8>>();
    thread::spawn(move || {
        for image in receive.iter() {
            thread::sleep(Duration::from_millis(500 + image[7] as u64));
        }
    });
    for n in 0..2000u32 {
        send.send((0..1_000_000).map(|k| (k ^ n) as u8).collect()).unwrap();
        if n % 20 == 0 {
            println!("decoded {}", n);
        }
        thread::sleep(Duration::from_millis(20));
    }
}
