import java.io.FileWriter;
import java.util.concurrent.*;

/** Five shards count down a latch; the task of the fourth has failed in its pool, and nobody looks at its Future. */
class Latch {
    static void note(String role) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path == null)
            return;
        try (FileWriter f = new FileWriter(path, true)) {
            f.write(role + " " + ProcessHandle.current().pid() + "\n");
        }
    }

    static void shard(int round, int n, CountDownLatch latch) {
        if (round == 8 && n == 3)
            throw new IllegalStateException("shard 3 is of another version");
        latch.countDown();
    }

    public static void main(String[] words) throws Exception {
        note("main");
        ExecutorService pool = Executors.newFixedThreadPool(3);
        for (int round = 0; round < 100; round++) {
            CountDownLatch latch = new CountDownLatch(5);
            for (int n = 0; n < 5; n++) {
                int r = round, k = n;
                pool.submit(() -> shard(r, k, latch));
            }
            Thread.sleep(300);
            latch.await();
            System.out.println("round " + round);
        }
        pool.shutdown();
    }
}
