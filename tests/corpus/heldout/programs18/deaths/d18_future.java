// A task of an executor finds a label that is no number; main asks for its result.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class d18_future {
    static int label(int step) {
        return Integer.parseInt(step == 33 ? "seven" : "7");
    }

    public static void main(String[] args) throws Exception {
        ExecutorService loaders = Executors.newFixedThreadPool(2, task -> {
            Thread thread = new Thread(task, "loader");
            thread.setDaemon(true);
            return thread;
        });
        for (int step = 0; step < 60; step++) {
            int at = step;
            int label = loaders.submit(() -> label(at)).get();
            if (step % 5 == 0)
                System.out.printf("step %d label %d%n", step, label);
            Thread.sleep(80);
        }
    }
}
