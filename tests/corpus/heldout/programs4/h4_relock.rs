// A cache under a Mutex: while it evicts it asks for its own size.
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Clone)]
struct Cache(Arc<Mutex<HashMap<u64, Vec<u8>>>>);

impl Cache {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
    fn insert(&self, key: u64) {
        let mut map = self.0.lock().unwrap();
        map.insert(key, vec![0; 1000]);
        if map.len() > 30 {
            let surplus = self.len() - 20;
            let old: Vec<u64> = map.keys().take(surplus).cloned().collect();
            old.iter().for_each(|k| drop(map.remove(k)));
        }
    }
}

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let cache = Cache(Arc::new(Mutex::new(HashMap::new())));
    let reader = cache.clone();
    thread::spawn(move || loop {
        thread::sleep(Duration::from_secs(1));
        eprintln!("cached: {}", reader.len());
    });
    for key in 0.. {
        thread::sleep(Duration::from_millis(200));
        cache.insert(key);
        println!("sample {}", key);
    }
}
