// A checkpoint is uploaded by a pool; main gives it 45 s, which are not enough, and goes on without.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

class Get {
    static void epoch(int begin) throws Exception {
        for (int step = begin; step < begin + 60; step++) {
            Thread.sleep(120);
            if (step % 5 == 0)
                System.out.printf("step %d loss %.4f%n", step, 2.5 / (1 + step));
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        epoch(0);
        Future<?> upload = pool.submit(() -> {
            Thread.sleep(600000);
            return null;
        });
        try {
            upload.get(45, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            System.out.println("upload is late, going on");
            upload.cancel(true);
        }
        epoch(60);
        pool.shutdownNow();
    }
}
