import java.util.concurrent.CompletableFuture;

/** Main joins a future whose thread computes for 62 s. */
class Tasks {
    static double score(int n, long ms) {
        double x = n;
        for (long end = System.currentTimeMillis() + ms; System.currentTimeMillis() < end;)
            for (int k = 0; k < 10000; k++)
                x = Math.sin(x) + k;
        return x;
    }

    public static void main(String[] words) {
        for (int n = 0; n < 16; n++) {
            int number = n;
            double x = CompletableFuture.supplyAsync(() -> score(number, number == 8 ? 62000 : 200)).join();
            System.out.printf("INFO fold %d score %.3f%n", n, x);
        }
    }
}
