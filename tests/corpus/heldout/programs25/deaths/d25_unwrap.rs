// A record has no number where one is expected.
use std::{thread, time::Duration};

fn main() {
    let rows = ["0.1", "0.2", "0.3", "n/a"];
    for (step, row) in rows.iter().cycle().enumerate().take(20) {
        thread::sleep(Duration::from_millis(250));
        let label: f32 = row.parse().unwrap();
        println!("step {} label {}", step, label);
    }
}
