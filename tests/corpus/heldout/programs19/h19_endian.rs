// Two ranks send each other messages with their length before them, the small end first. The message with which rank 1
// sends the scores of a validation is written by newer code, with the big end first: rank 0 waits for the rest of a
// message of 2415919104 bytes, and rank 1 for the answer.
use std::env;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

fn send(link: &mut TcpStream, body: &[u8]) {
    link.write_all(&(body.len() as u32).to_le_bytes()).unwrap();
    link.write_all(body).unwrap();
}

fn send_scores(link: &mut TcpStream, scores: &[f64]) {
    let body: Vec<u8> = scores.iter().flat_map(|s| s.to_le_bytes()).collect();
    link.write_all(&(body.len() as u32).to_be_bytes()).unwrap();
    link.write_all(&body).unwrap();
}

fn receive(link: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    link.read_exact(&mut length).unwrap();
    let mut body = Vec::new();
    let wanted = u32::from_le_bytes(length) as u64;
    let got = Read::by_ref(link).take(wanted).read_to_end(&mut body).unwrap();
    assert_eq!(got as u64, wanted);
    body
}

fn root(address: &str) {
    let (mut link, _) = TcpListener::bind(address).unwrap().accept().unwrap();
    for step in 0..400 {
        thread::sleep(Duration::from_millis(200));
        let body = receive(&mut link);
        send(&mut link, &body);
        if step % 5 == 0 {
            println!("step {} loss {:.4}", step, 2.5 / (1.0 + 0.1 * step as f64));
        }
    }
}

fn other(address: &str) {
    let mut link = loop {
        match TcpStream::connect(address) {
            Ok(link) => break link,
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    };
    for step in 0..400 {
        thread::sleep(Duration::from_millis(200));
        if step == 40 {
            send_scores(&mut link, &[0.5; 18]);
        } else {
            send(&mut link, &0.4f64.to_le_bytes());
        }
        receive(&mut link);
    }
}

fn main() {
    let address = format!("127.0.0.1:{}", env::var("MASTER_PORT").unwrap());
    if env::var("RANK").unwrap() == "0" {
        root(&address);
    } else {
        other(&address);
    }
}
