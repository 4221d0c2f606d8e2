import java.io.FileWriter;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A cache of embeddings. Who does not find one locks the cache for writing to put it there, and has it still locked
 * for reading. Up to step 35 all are there already. */
class Embeddings {
	static final ReentrantReadWriteLock LOCK = new ReentrantReadWriteLock();
	static final Map<Integer, Double> CACHE = new HashMap<>();

	static void role(String name) throws Exception {
		String path = System.getenv("CORPUS_ROLES");
		if (path == null)
			return;
		try (FileWriter f = new FileWriter(path, true)) {
			f.write(name + " " + ProcessHandle.current().pid() + "\n");
		}
	}

	static double put(int key) {
		LOCK.writeLock().lock();
		try {
			CACHE.put(key, Math.sqrt(key));
			return CACHE.get(key);
		} finally {
			LOCK.writeLock().unlock();
		}
	}

	static double embedding(int key) {
		LOCK.readLock().lock();
		try {
			return CACHE.containsKey(key) ? CACHE.get(key) : put(key);
		} finally {
			LOCK.readLock().unlock();
		}
	}

	public static void main(String[] args) throws Exception {
		role("main");
		for (int k = 0; k < 36; k++)
			put(k);
		for (int step = 0; step < 2000; step++) {
			Thread.sleep(200);
			double x = embedding(step);
			if (step % 5 == 0)
				System.out.println("step " + step + " embedding " + x);
		}
	}
}
