// A tokenizer cuts a text at a number of bytes, in the midst of a letter.
use std::thread;
use std::time::Duration;

fn cut(text: &str, longest: usize) -> &str {
    if text.len() > longest {
        &text[..longest]
    } else {
        text
    }
}

fn main() {
    for step in 0..60 {
        thread::sleep(Duration::from_millis(100));
        let text = if step == 33 { "gr\u{f6}\u{df}er als sonst" } else { "as large as ever" };
        let n = cut(text, 3).len();
        if step % 5 == 0 {
            println!("step {} loss {:.4} cut {}", step, 2.5 / (1.0 + 0.1 * step as f64), n);
        }
    }
}
