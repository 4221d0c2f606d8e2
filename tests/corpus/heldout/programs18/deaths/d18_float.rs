// A line of a table has "n/a" where a number is expected.
use std::thread::sleep;
use std::time::Duration;

fn score(field: &str) -> f64 {
    field.parse().unwrap()
}

fn main() {
    let mut sum = 0.0;
    for step in 0..60 {
        sum += score(if step == 32 { "n/a" } else { "0.5" });
        if step % 5 == 0 {
            println!("step {} mean {:.3}", step, sum / (step + 1) as f64);
        }
        sleep(Duration::from_millis(80));
    }
}
