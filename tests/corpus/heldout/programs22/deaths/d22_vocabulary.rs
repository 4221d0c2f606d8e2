// A token that was added to the tokenizer, for which the table of embeddings has no row.
use std::time::Duration;

fn embed(table: &[[f32; 4]], token: usize) -> f32 {
    table[token][0]
}

fn main() {
    let table = vec![[0.5f32; 4]; 32000];
    for step in 0..100 {
        std::thread::sleep(Duration::from_millis(100));
        let token = if step < 22 { step * 7 } else { 32000 };
        let x = embed(&table, token);
        if step % 5 == 0 {
            println!("step {} loss {:.3}", step, x / (1 + step) as f32);
        }
    }
}
