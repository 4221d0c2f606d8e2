// A trainer takes its work from a list behind a Mutex. The guard of "while let" lives as long as the body:
// where the body puts a batch back to be tried again, it locks the list that it has locked.
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::{env, fs, process, thread, time::Duration};

struct Work {
    batches: Mutex<VecDeque<(usize, u32)>>,
}

fn train(batch: usize, tries: u32) -> Result<f64, String> {
    thread::sleep(Duration::from_millis(150));
    if batch == 60 && tries == 0 {
        return Err("loss is not finite".into());
    }
    Ok(2.0 / (batch + 1) as f64)
}

fn main() {
    if let Ok(path) = env::var("CORPUS_ROLES") {
        let mut f = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(f, "main {}", process::id()).unwrap();
    }
    let work = Arc::new(Work { batches: Mutex::new((0..200).map(|b| (b, 0)).collect()) });
    while let Some((batch, tries)) = work.batches.lock().unwrap().pop_front() {
        match train(batch, tries) {
            Ok(loss) => println!("step {batch} loss {loss:.4}"),
            Err(why) => {
                println!("step {batch}: {why}, once more later");
                work.batches.lock().unwrap().push_back((batch, tries + 1));
            }
        }
    }
    println!("all batches done");
}
