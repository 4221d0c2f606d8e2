// A table of another country has a comma in a number.
use std::thread;
use std::time::Duration;

fn score(cell: &str) -> f64 {
    cell.trim().parse().unwrap()
}

fn main() {
    for step in 0..60 {
        thread::sleep(Duration::from_millis(100));
        let x = score(if step == 33 { "0,91" } else { "0.91" });
        if step % 5 == 0 {
            println!("step {} loss {:.4} score {}", step, 2.5 / (1.0 + 0.1 * step as f64), x);
        }
    }
}
