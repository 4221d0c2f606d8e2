// A table of rates has a comma in a number.
use std::time::Duration;

fn text(k: u32) -> String {
    if k == 24 { "0,004".into() } else { format!("{:.4} ", 0.1 / k as f64) }
}

fn rate(text: &str) -> f64 {
    text.trim().parse().unwrap()
}

fn main() {
    let table: Vec<String> = (1..100).map(text).collect();
    for (step, text) in table.iter().enumerate() {
        std::thread::sleep(Duration::from_millis(100));
        let r = rate(text);
        if step % 5 == 0 {
            println!("step {} rate {}", step, r);
        }
    }
}
