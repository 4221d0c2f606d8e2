// A tokenizer looks up a word that its vocabulary has not.
use std::collections::HashMap;
use std::{thread, time::Duration};

fn encode(vocabulary: &HashMap<&str, u32>, text: &str) -> Vec<u32> {
    text.split(' ').map(|word| *vocabulary.get(word).unwrap()).collect()
}

fn main() {
    let vocabulary = HashMap::from([("the", 1), ("cat", 2), ("sat", 3)]);
    for step in 0..30 {
        thread::sleep(Duration::from_millis(100));
        if step % 5 == 0 {
            println!("step {} tokens {:?}", step, encode(&vocabulary, "the cat sat"));
        }
    }
    println!("{:?}", encode(&vocabulary, "the zyzzyva sat"));
}
