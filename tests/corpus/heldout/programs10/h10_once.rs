// The vocabulary is made at its first use. To make it, a merge is normalized, and what normalizes looks into the vocabulary.
use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;

static VOCABULARY: OnceLock<Vec<String>> = OnceLock::new();

fn role(name: &str) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", name, std::process::id()).unwrap();
    }
}

fn normalize(token: &str, special: bool) -> String {
    if special {
        return vocabulary().iter().find(|t| t.as_str() == token).cloned().unwrap_or_default();
    }
    token.to_lowercase()
}

fn vocabulary() -> &'static Vec<String> {
    VOCABULARY.get_or_init(|| {
        let mut all = Vec::new();
        for k in 0..50 {
            std::thread::sleep(Duration::from_millis(20));
            all.push(normalize(&format!("Token{}", k), k == 40));
        }
        all
    })
}

fn main() {
    role("main");
    for k in 0..20 {
        std::thread::sleep(Duration::from_millis(100));
        println!("file {} read", k);
    }
    println!("{} tokens", vocabulary().len());
}
