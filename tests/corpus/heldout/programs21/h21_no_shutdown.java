import java.io.FileWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A job makes features with an executor of two threads, says that it is done, and its main ends. Nobody has shut the executor
 * down: its threads wait for work, and the process stays as long as they do. */
class Features {
	static void role(String name) throws Exception {
		String path = System.getenv("CORPUS_ROLES");
		if (path == null)
			return;
		try (FileWriter f = new FileWriter(path, true)) {
			f.write(name + " " + ProcessHandle.current().pid() + "\n");
		}
	}

	static double make(int k) throws InterruptedException {
		Thread.sleep(400);
		return Math.sqrt(k);
	}

	public static void main(String[] args) throws Exception {
		role("main");
		ExecutorService makers = Executors.newFixedThreadPool(2);
		List<Future<Double>> made = new ArrayList<>();
		for (int k = 0; k < 50; k++) {
			int n = k;
			made.add(makers.submit(() -> make(n)));
		}
		double sum = 0;
		for (int step = 0; step < made.size(); step++) {
			sum += made.get(step).get();
			if (step % 5 == 0)
				System.out.printf("step %d sum %.3f%n", step, sum);
		}
		System.out.println("all features are made");
	}
}
