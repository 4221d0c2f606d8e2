// A callback that changes the list that is gone through.
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

fn main() {
    let hooks: Rc<RefCell<Vec<u32>>> = Rc::new(RefCell::new((0..8).collect()));
    let again = hooks.clone();
    for k in 0..8 {
        std::thread::sleep(Duration::from_millis(150));
        println!("registered hook {}", k);
    }
    for hook in hooks.borrow().iter() {
        println!("running hook {}", hook);
        if *hook == 5 {
            again.borrow_mut().push(9);
        }
    }
}
