// Looks for a free task each second; the last one is claimed by another process that gives it back after 64 s.
use std::fs::{create_dir_all, remove_file, OpenOptions};
use std::{env, process, thread, time::Duration};

fn claim(n: usize) -> bool {
    OpenOptions::new().write(true).create_new(true).open(format!("tasks/{}.claim", n)).is_ok()
}

fn main() {
    create_dir_all("tasks").unwrap();
    if env::args().nth(1).is_some() {
        claim(19);
        thread::sleep(Duration::from_secs(68));
        remove_file("tasks/19.claim").unwrap();
        return;
    }
    let mut child = process::Command::new(env::current_exe().unwrap()).arg("worker").spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    for n in 0..20 {
        thread::sleep(Duration::from_millis(200));
        while !claim(n) {
            thread::sleep(Duration::from_secs(1));
        }
        println!("task {} of 20 done", n + 1);
    }
    child.wait().unwrap();
}
