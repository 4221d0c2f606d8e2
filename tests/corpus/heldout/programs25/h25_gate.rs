// A loader's thread prepares batches and opens a gate, a Condvar with a flag, for each; the trainer takes it and closes
// the gate. At a broken batch the loader panics between both, after it has let go of the mutex: the trainer waits.
//
// slow: the broken batch is repaired, which takes 57 s.
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

struct Gate {
    batch: Mutex<Option<u64>>,
    changed: Condvar,
}

impl Gate {
    fn give(&self, batch: u64) {
        let mut place = self.changed.wait_while(self.batch.lock().unwrap(), |b| b.is_some()).unwrap();
        *place = Some(batch);
        self.changed.notify_all();
    }

    fn take(&self) -> u64 {
        let mut place = self.changed.wait_while(self.batch.lock().unwrap(), |b| b.is_none()).unwrap();
        self.changed.notify_all();
        place.take().unwrap()
    }
}

fn load(gate: Arc<Gate>, steps: u64, slow: bool) {
    for step in 0..steps {
        if step == 100 {
            if !slow {
                panic!("batch {}: labels and images differ in number", step);
            }
            thread::sleep(Duration::from_secs(57));
        }
        thread::sleep(Duration::from_millis(120));
        gate.give(step);
    }
}

fn main() {
    if let Ok(path) = std::env::var("CORPUS_ROLES") {
        let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", std::process::id()).unwrap();
    }
    let slow = std::env::args().nth(1).is_some();
    let steps = if slow { 120 } else { 3000 };
    let gate = Arc::new(Gate { batch: Mutex::new(None), changed: Condvar::new() });
    let of_loader = gate.clone();
    let loader = thread::spawn(move || load(of_loader, steps, slow));
    for _ in 0..steps {
        let step = gate.take();
        thread::sleep(Duration::from_millis(220));
        if step % 5 == 0 {
            println!("step {} loss {:.4}", step, 2.5 / (1.0 + step as f64));
        }
    }
    loader.join().unwrap();
}
