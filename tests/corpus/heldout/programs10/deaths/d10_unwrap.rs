use std::time::Duration;

fn main() {
    for k in 0..20 {
        std::thread::sleep(Duration::from_millis(150));
        let line = if k == 9 { "12,0.7,n/a" } else { "12,0.7,0.1" };
        let sum: f32 = line.split(',').map(|x| x.parse::<f32>().unwrap()).sum();
        println!("row {} sum {}", k, sum);
    }
}
