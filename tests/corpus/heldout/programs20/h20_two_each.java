import java.io.FileWriter;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A reader of samples with a pool of two connections and two threads. From epoch 2 on each thread looks for the label
 * of a sample while it has the sample's own connection, by a second one. Both threads have one, and none is left.
 *
 * With "slow" the label comes by the same connection, and one takes 48 s.
 */
class Reader {
	static final BlockingQueue<Integer> POOL = new ArrayBlockingQueue<>(2);
	static boolean slow;

	static void role(String name) throws IOException {
		String path = System.getenv("CORPUS_ROLES");
		if (path != null) {
			try (FileWriter out = new FileWriter(path, true)) {
				out.write(name + " " + ProcessHandle.current().pid() + "\n");
			}
		}
	}

	static int label(int sample) throws InterruptedException {
		if (slow) {
			Thread.sleep(sample == 80 ? 48000 : 10);
			return sample % 10;
		}
		int connection = POOL.take();
		try {
			Thread.sleep(10);
			return sample % 10;
		} finally {
			POOL.put(connection);
		}
	}

	static int read(int sample) throws InterruptedException {
		int connection = POOL.take();
		try {
			Thread.sleep(180);
			return sample < 80 ? sample : sample + label(sample);
		} finally {
			POOL.put(connection);
		}
	}

	public static void main(String[] args) throws Exception {
		role("main");
		slow = args.length > 0 && args[0].equals("slow");
		POOL.put(1);
		POOL.put(2);
		ExecutorService readers = Executors.newFixedThreadPool(2);
		for (int step = 0; step < (slow ? 60 : 400); step++) {
			int first = 2 * step;
			Future<Integer> a = readers.submit(() -> read(first)), b = readers.submit(() -> read(first + 1));
			int sum = a.get() + b.get();
			if (step % 5 == 0) {
				System.out.printf("step %d loss %.4f sum %d%n", step, 2.5 / (1 + 0.1 * step), sum);
			}
		}
		readers.shutdown();
	}
}
