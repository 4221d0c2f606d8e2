import java.io.FileWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/** Three threads decode, each with one permit for an image and one more for its mask, of five. A thread that saves a
 * checkpoint wants all five at once, and the semaphore is fair: who asks later waits behind it. It asks while each of
 * the three has its first permit.
 *
 * slow: the thread that saves has all five for 52 s, and nobody asks for a second one with the first one in hand. */
class Decode {
	static final Semaphore MEMORY = new Semaphore(5, true);
	static boolean slow;

	static void role(String name) throws Exception {
		String path = System.getenv("CORPUS_ROLES");
		if (path == null)
			return;
		try (FileWriter f = new FileWriter(path, true)) {
			f.write(name + " " + ProcessHandle.current().pid() + "\n");
		}
	}

	static void decode(int step) throws InterruptedException {
		MEMORY.acquire();
		Thread.sleep(100);
		if (slow)
			MEMORY.release();
		MEMORY.acquire();
		Thread.sleep(60);
		MEMORY.release(slow ? 1 : 2);
	}

	static void save() throws InterruptedException {
		MEMORY.acquire(5);
		Thread.sleep(slow ? 52000 : 100);
		MEMORY.release(5);
	}

	interface Work {
		void run() throws Exception;
	}

	static Thread start(Work work, String name) {
		Thread t = new Thread(() -> {
			try {
				work.run();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}, name);
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		role("main");
		slow = args.length > 0;
		for (int step = 0; step < (slow ? 50 : 1000); step++) {
			int now = step;
			List<Thread> threads = new ArrayList<>();
			for (int k = 0; k < 3; k++)
				threads.add(start(() -> decode(now), "decoder-" + k));
			Thread.sleep(40);
			if (step == 36)
				threads.add(start(Decode::save, "saver"));
			for (Thread t : threads)
				t.join();
			if (step % 5 == 0)
				System.out.println("step " + step + " images " + 3 * step);
		}
	}
}
