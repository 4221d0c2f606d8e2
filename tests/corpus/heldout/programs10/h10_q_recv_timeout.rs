// A thread that augments images is slow with one; who waits for it gives up after a minute and takes the image as it is.
use std::io::Write;
use std::sync::mpsc;
use std::time::Duration;

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let (to, todo) = mpsc::channel::<u32>();
    let (done, from) = mpsc::channel::<u32>();
    std::thread::spawn(move || {
        for k in todo {
            std::thread::sleep(Duration::from_millis(if k == 15 { 64_000 } else { 150 }));
            if done.send(k).is_err() {
                return;
            }
        }
    });
    for k in 0..40 {
        to.send(k).unwrap();
        match from.recv_timeout(Duration::from_secs(60)) {
            Ok(_) => println!("image {}", k),
            Err(_) => println!("image {} as it is", k),
        }
    }
}
