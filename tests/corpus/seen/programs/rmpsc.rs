// Three ranks in a chain of unix sockets; rank 1 waits in a channel whose sender lives in a paused thread.
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

extern "C" {
    fn prctl(option: i32, ...) -> i32;
}

fn role(name: &str, pid: u32) {
    if let Ok(p) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(p).unwrap();
        f.write_all(format!("{} {}\n", name, pid).as_bytes()).unwrap();
    }
}

fn next_batch(rx: &mpsc::Receiver<u32>) -> u32 {
    rx.recv().unwrap()
}

fn run(rank: u32) {
    unsafe { prctl(1, 9usize, 0usize, 0usize, 0usize) }; // ends with its launcher
    role(&format!("rank{}", rank), std::process::id());
    let dir = std::env::var("JOB_DIR").unwrap();
    let mut links: Vec<UnixStream> = Vec::new();
    if rank == 0 {
        let l = UnixListener::bind(format!("{}/s", dir)).unwrap();
        for _ in 0..2 {
            links.push(l.accept().unwrap().0);
        }
        std::fs::remove_dir_all(&dir).unwrap();
    } else {
        loop {
            match UnixStream::connect(format!("{}/s", dir)) {
                Ok(s) => { links.push(s); break; }
                Err(_) => thread::sleep(Duration::from_millis(50)),
            }
        }
    }
    let (tx, rx) = mpsc::channel();
    thread::spawn(move || {
        for i in 0u32.. {
            if rank == 1 && i == 15 {
                thread::park();
            }
            tx.send(i).unwrap();
            thread::sleep(Duration::from_millis(250));
        }
    });
    let mut b = [0u8; 1];
    loop {
        let i = next_batch(&rx);
        if rank == 0 {
            for s in links.iter_mut() { s.read_exact(&mut b).unwrap(); }
            for s in links.iter_mut() { s.write_all(&b).unwrap(); }
            println!("step {} loss {:.3}", i, 2.0 / (1.0 + i as f64));
        } else {
            links[0].write_all(&b).unwrap();
            links[0].read_exact(&mut b).unwrap();
        }
    }
}

fn main() {
    if let Ok(r) = std::env::var("RANK") {
        return run(r.parse().unwrap());
    }
    role("launcher", std::process::id());
    let dir = std::env::temp_dir().join(format!("rj{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let me = std::env::current_exe().unwrap();
    let mut kids: Vec<Child> = (0..3).map(|r| {
        Command::new(&me).env("RANK", r.to_string()).env("LOCAL_RANK", r.to_string()).env("WORLD_SIZE", "3").env("JOB_DIR", &dir).spawn().unwrap()
    }).collect();
    for k in kids.iter_mut() { k.wait().unwrap(); }
}
