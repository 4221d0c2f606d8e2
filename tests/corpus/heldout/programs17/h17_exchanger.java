// A loader and a trainer, two threads, exchange a full buffer for an empty one. The loader has 45 buffers and then
// ends; the trainer counts on 48, as one shard is shorter than the index says. It waits in exchange() for a partner.
// With "slow" there are 48, and the loader works for 48 s on the last three.
import java.io.FileWriter;
import java.util.concurrent.Exchanger;

public class h17_exchanger {
    static final Exchanger<double[]> exchanger = new Exchanger<>();
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

    static void load(int buffers) {
        try {
            double[] buffer = new double[1024];
            for (int k = 0; k < buffers; k++) {
                buffer[0] = work(k >= 45 ? 16 : 0.18);
                buffer = exchanger.exchange(buffer);
            }
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        toldRole("main");
        slow = args.length > 0 && args[0].equals("slow");
        new Thread(() -> load(slow ? 48 : 45), "loader").start();
        double[] buffer = new double[1024];
        for (int step = 0; step < 48; step++) {
            buffer = exchanger.exchange(buffer);
            work(0.05);
            if (step % 5 == 0)
                System.out.printf("step %d loss %.3f%n", step, 2.5 / (1 + 0.1 * step));
        }
        System.out.println("epoch 0 done");
    }
}
