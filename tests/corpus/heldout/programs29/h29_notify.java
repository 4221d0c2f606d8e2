import java.io.FileWriter;
import java.util.ArrayDeque;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/* A trainer in Java: two threads decode, two train in step, over a bounded buffer with one monitor and notify(), of one
   row when memory is short. When a decoder's notify() wakes
   the other decoder instead of a trainer, it finds the buffer full and waits again, and nobody is woken any more. It prints nothing
   but its first line.

   slow: notifyAll(); a batch takes 65 s. */
class h29_notify {
	static boolean slow;

	static class Buffer {
		int room = 8;
		private final ArrayDeque<Integer> rows = new ArrayDeque<>();

		synchronized void put(int row) throws InterruptedException {
			while (rows.size() >= room)
				wait();
			rows.add(row);
			tell();
		}

		synchronized int take() throws InterruptedException {
			while (rows.isEmpty())
				wait();
			int row = rows.remove();
			tell();
			return row;
		}

		private void tell() {
			if (slow)
				notifyAll();
			else
				notify();
		}
	}

	static void crunch(double seconds) throws InterruptedException {
		long end = System.nanoTime() + (long) (seconds * 1e8);
		double x = 1;
		while (System.nanoTime() < end)
			x = x * 0.999 + 1;
		Thread.sleep((long) (seconds * 900));
	}

	static void decoder(Buffer buffer, int which) {
		try {
			for (int k = 0; k < (slow ? 100 : 100000); k++)
				buffer.put(k * 2 + which);
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	static final CyclicBarrier step = new CyclicBarrier(2);

	static void trainer(Buffer buffer, int which) {
		try {
			for (int k = 0; k < (slow ? 100 : 100000); k++) {
				step.await();
				if (k == 80 && !slow)
					buffer.room = 1;
				buffer.take();
				crunch(0.25);
				if (slow && which == 1 && k == 80)
					for (int s = 0; s < 65; s++)
						crunch(1);
			}
		} catch (InterruptedException | BrokenBarrierException e) {
			throw new RuntimeException(e);
		}
	}

	public static void main(String[] words) throws Exception {
		slow = words.length > 0 && words[0].equals("slow");
		String path = System.getenv("CORPUS_ROLES");
		if (path != null)
			try (FileWriter f = new FileWriter(path, true)) {
				f.write("main " + ProcessHandle.current().pid() + "\n");
			}
		System.out.println("training with 2 decoders and 2 trainers");
		Buffer buffer = new Buffer();
		Thread[] all = new Thread[4];
		for (int k = 0; k < 4; k++) {
			int which = k / 2;
			all[k] = k % 2 == 0 ? new Thread(() -> decoder(buffer, which), "decoder-" + which)
					: new Thread(() -> trainer(buffer, which), "trainer-" + which);
		}
		for (Thread t : all)
			t.start();
		for (Thread t : all)
			t.join();
	}
}
