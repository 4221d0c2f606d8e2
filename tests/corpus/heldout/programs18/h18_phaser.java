// Two tasks of an executor load the halves of each batch, and meet main at a Phaser. One finds a label that is no number:
// the exception goes into a Future that nobody looks at, and the task does not come to the Phaser any more. The other one
// and main wait there. With "slow" the label is fine, and that task works for 48 s.
import java.io.FileWriter;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;

public class h18_phaser {
    static final Phaser phaser = new Phaser(3);
    static boolean slow;

    static void toldRole(String name) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write(name + " " + ProcessHandle.current().pid() + "\n");
            }
    }

    static double work(double seconds) throws InterruptedException {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        double x = 1;
        while (System.nanoTime() < end) {
            for (int k = 0; k < 100000; k++)
                x = x * 0.999 + k;
            Thread.sleep(30);
        }
        return x;
    }

    static int label(int half, int step) {
        return Integer.parseInt(half == 1 && step == 40 && !slow ? "4O" : "40");
    }

    static Void load(int half, int steps) throws InterruptedException {
        for (int step = 0; step < steps; step++) {
            work(0.15 + 0.001 * label(half, step));
            if (slow && half == 1 && step == 40)
                work(48);
            phaser.arriveAndAwaitAdvance();
        }
        return null;
    }

    public static void main(String[] args) throws Exception {
        toldRole("main");
        slow = args.length > 0 && args[0].equals("slow");
        int steps = slow ? 60 : 400;
        ExecutorService loaders = Executors.newFixedThreadPool(2);
        for (int half = 0; half < 2; half++) {
            int which = half;
            loaders.submit(() -> load(which, steps));
        }
        for (int step = 0; step < steps; step++) {
            phaser.arriveAndAwaitAdvance();
            if (step % 5 == 0)
                System.out.printf("step %d loss %.3f%n", step, 2.5 / (1 + 0.1 * step));
        }
        loaders.shutdown();
    }
}
