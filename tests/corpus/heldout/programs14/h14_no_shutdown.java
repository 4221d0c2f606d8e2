import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/** Features are made by a pool of threads. Main comes to its end, but nobody shuts the pool down: its threads wait. */
class Features {
    static double make(int row) throws Exception {
        Thread.sleep(150);
        return Math.sqrt(row);
    }

    public static void main(String[] args) throws Exception {
        String roles = System.getenv("CORPUS_ROLES");
        if (roles != null)
            Files.writeString(Path.of(roles), "main " + ProcessHandle.current().pid() + "\n", StandardOpenOption.CREATE,
                              StandardOpenOption.APPEND);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Double>> rows = new ArrayList<>();
        for (int k = 0; k < 120; k++) {
            int row = k;
            rows.add(pool.submit(() -> make(row)));
        }
        double sum = 0;
        for (int k = 0; k < 120; k++) {
            sum += rows.get(k).get();
            if (k % 10 == 0)
                System.out.println("step " + k + " sum " + sum);
        }
        System.out.println("features written");
    }
}
