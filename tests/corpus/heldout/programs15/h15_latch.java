// Four tasks of a pool load shards in each epoch and count a latch down at their end. One of them fails in the
// third epoch, before it counts, and nobody asks for its result; main waits at the latch.
import java.io.FileWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class Latch {
    static void role(String name) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path == null)
            return;
        try (FileWriter f = new FileWriter(path, true)) {
            f.write(name + " " + ProcessHandle.current().pid() + "\n");
        }
    }

    static int load(int epoch, int shard) throws Exception {
        Thread.sleep(300 + 100 * shard);
        int[] rows = new int[epoch == 2 && shard == 3 ? 0 : 16];
        return rows[0] + rows.length;
    }

    public static void main(String[] args) throws Exception {
        role("main");
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int epoch = 0; epoch < 5; epoch++) {
            CountDownLatch loaded = new CountDownLatch(4);
            for (int s = 0; s < 4; s++) {
                int e = epoch, shard = s;
                pool.submit(() -> {
                    load(e, shard);
                    loaded.countDown();
                    return null;
                });
            }
            loaded.await();
            for (int step = 0; step < 30; step++) {
                Thread.sleep(130);
                if (step % 5 == 0)
                    System.out.printf("step %d loss %.4f%n", epoch * 30 + step, 2.5 / (1 + step));
            }
        }
        pool.shutdown();
    }
}
