import java.io.FileWriter;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.StampedLock;

/** A table of features with a StampedLock, which no thread can take twice. `refresh` has it for writing, and for a key
 * without a value it calls `lookup`, which wants it for reading. */
class Features {
	static final StampedLock LOCK = new StampedLock();
	static final Map<Integer, Double> TABLE = new HashMap<>();

	static void role(String name) throws Exception {
		String path = System.getenv("CORPUS_ROLES");
		if (path == null)
			return;
		try (FileWriter f = new FileWriter(path, true)) {
			f.write(name + " " + ProcessHandle.current().pid() + "\n");
		}
	}

	static double lookup(int key) {
		long stamp = LOCK.readLock();
		try {
			return TABLE.getOrDefault(key, 0.0);
		} finally {
			LOCK.unlockRead(stamp);
		}
	}

	static void refresh(int key, Double value) {
		long stamp = LOCK.writeLock();
		try {
			TABLE.put(key, value == null ? lookup(key - 1) : value);
		} finally {
			LOCK.unlockWrite(stamp);
		}
	}

	public static void main(String[] args) throws Exception {
		role("main");
		Thread reader = new Thread(() -> {
			try {
				for (int k = 0;; k++) {
					Thread.sleep(130);
					lookup(k);
				}
			} catch (InterruptedException e) {
				return;
			}
		}, "reader");
		reader.setDaemon(true);
		reader.start();
		for (int step = 0; step < 2000; step++) {
			Thread.sleep(190);
			refresh(step, step == 37 ? null : step * 0.5);
			if (step % 5 == 0)
				System.out.println("step " + step + " feature " + lookup(step));
		}
	}
}
