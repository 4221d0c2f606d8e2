// A trainer in Rust: ranks over TCP, rank 0 adds up. Rank 2's loader thread panics on a bad row; the trainer waits on the Condvar.
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

type Buffer = Arc<(Mutex<VecDeque<u32>>, Condvar)>;

fn load(buffer: Buffer, last: u32) {
    for k in 0..100000u32 {
        thread::sleep(Duration::from_millis(100));
        if k == last {
            return;
        }
        let (queue, more) = &*buffer;
        queue.lock().unwrap().push_back(k);
        more.notify_one();
    }
}

fn next(buffer: &Buffer) -> u32 {
    let (queue, more) = &**buffer;
    let mut q = queue.lock().unwrap();
    loop {
        match q.pop_front() {
            Some(x) => return x,
            None => q = more.wait(q).unwrap(),
        }
    }
}

fn number(s: &mut TcpStream) -> f64 {
    let mut b = [0u8; 8];
    s.read_exact(&mut b).unwrap();
    f64::from_le_bytes(b)
}

fn dial(port: &str) -> TcpStream {
    loop {
        match TcpStream::connect(format!("127.0.0.1:{}", port)) {
            Ok(s) => return s,
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn main() {
    let var = |name: &str| std::env::var(name).unwrap();
    let (rank, world, port) = (var("RANK").parse::<u32>().unwrap(), var("WORLD_SIZE").parse::<usize>().unwrap(), var("MASTER_PORT"));
    let buffer: Buffer = Arc::new((Mutex::new(VecDeque::new()), Condvar::new()));
    let own = buffer.clone();
    thread::spawn(move || load(own, if rank == 2 { 25 } else { 1000000 }));
    let mut links: Vec<TcpStream> = if rank == 0 {
        let door = TcpListener::bind(format!("127.0.0.1:{}", port)).unwrap();
        (1..world).map(|_| door.accept().unwrap().0).collect()
    } else {
        vec![dial(&port)]
    };
    for step in 0.. {
        let mut x = next(&buffer) as f64;
        thread::sleep(Duration::from_millis(80));
        if rank == 0 {
            x += links.iter_mut().map(number).sum::<f64>();
            for s in links.iter_mut() {
                s.write_all(&x.to_le_bytes()).unwrap();
            }
            println!("step {} sum {}", step, x);
        } else {
            links[0].write_all(&x.to_le_bytes()).unwrap();
            number(&mut links[0]);
        }
    }
}
