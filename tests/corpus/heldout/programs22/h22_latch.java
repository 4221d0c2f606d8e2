import java.io.FileWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A service that prepares records, four tasks for a step, which count a latch down. A task that fails does not come to its
 * count, and its exception lies in a Future that nobody asks: main waits at the latch.
 *
 * slow: the record is right, and takes 48 s. */
class Records {
	static void role(String name) throws Exception {
		String path = System.getenv("CORPUS_ROLES");
		if (path == null)
			return;
		try (FileWriter f = new FileWriter(path, true)) {
			f.write(name + " " + ProcessHandle.current().pid() + "\n");
		}
	}

	static int parse(int step, int k, boolean slow) throws InterruptedException {
		Thread.sleep(200);
		boolean odd = step == 30 && k == 2;
		if (odd && slow)
			Thread.sleep(48000);
		return Integer.parseInt(odd && !slow ? "12,5" : "125");
	}

	static void prepare(ExecutorService pool, int step, boolean slow) throws InterruptedException {
		CountDownLatch latch = new CountDownLatch(4);
		for (int k = 0; k < 4; k++) {
			int n = k;
			pool.submit(() -> {
				int length = parse(step, n, slow);
				latch.countDown();
				return length;
			});
		}
		latch.await();
	}

	public static void main(String[] args) throws Exception {
		role("main");
		boolean slow = args.length > 0;
		ExecutorService pool = Executors.newFixedThreadPool(4);
		for (int step = 0; step < (slow ? 60 : 500); step++) {
			prepare(pool, step, slow);
			if (step % 5 == 0)
				System.out.println("step " + step + " records " + 4 * step);
		}
		pool.shutdown();
	}
}
