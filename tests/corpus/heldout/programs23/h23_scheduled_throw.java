import java.io.FileWriter;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A service whose records are written by a task that is scheduled each half second. The task fails once; a scheduled
 * task that has failed is not run again, and nobody hears of it. The queue of records becomes full, and main waits for
 * room. */
class Writer {
	static final BlockingQueue<Integer> RECORDS = new ArrayBlockingQueue<>(12);

	static void role(String name) throws Exception {
		String path = System.getenv("CORPUS_ROLES");
		if (path == null)
			return;
		try (FileWriter f = new FileWriter(path, true)) {
			f.write(name + " " + ProcessHandle.current().pid() + "\n");
		}
	}

	static void flush() {
		for (Integer n = RECORDS.poll(); n != null; n = RECORDS.poll())
			if (n == 35)
				throw new IllegalStateException("record 35 has no key");
	}

	public static void main(String[] args) throws Exception {
		role("main");
		Executors.newScheduledThreadPool(1).scheduleAtFixedRate(Writer::flush, 500, 500, TimeUnit.MILLISECONDS);
		for (int step = 0; step < 2000; step++) {
			Thread.sleep(180);
			RECORDS.put(step);
			if (step % 5 == 0)
				System.out.println("step " + step + " records " + step);
		}
	}
}
