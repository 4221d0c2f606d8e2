// Runs a tool with its output in a pipe and waits for its end before it reads; the output grows with the batch.
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

fn note(role: &str, pid: u32) {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "{} {}", role, pid).unwrap();
    }
}

fn main() {
    note("main", std::process::id());
    for batch in 1.. {
        let script = format!("sleep 0.4; exec head -c {} /dev/zero", batch * 9000);
        let mut tool = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "sh", "-c", &script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        note("tool", tool.id());
        let code = tool.wait().unwrap();
        let mut text = Vec::new();
        tool.stdout.take().unwrap().read_to_end(&mut text).unwrap();
        println!("batch {}: {} bytes, {}", batch, text.len(), code);
    }
}
