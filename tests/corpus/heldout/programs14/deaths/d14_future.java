import java.util.concurrent.*;

/** A task of a pool fails, main finds it in its future. */
class Rows {
    static int parse(String row) {
        return Integer.parseInt(row.split(",")[1]);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2, r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            return t;
        });
        for (int k = 0; k < 100; k++) {
            String row = k == 60 ? "60" : k + "," + k;
            Future<Integer> label = pool.submit(() -> parse(row));
            label.get();
            if (k % 5 == 0)
                System.out.println("step " + k);
            Thread.sleep(100);
        }
    }
}
