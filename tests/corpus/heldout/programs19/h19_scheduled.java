// A task that a scheduler calls each second saves the newest weights and puts their step into a queue; main takes it
// from there each tenth step. A task that throws once is not called again, and its exception is told to nobody: at
// step 40 there is a folder where its file should go, and main waits for the queue. With "slow" there is none, and
// saving takes 48 s.
import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class h19_scheduled {
    static final AtomicInteger wanted = new AtomicInteger(-1);
    static final BlockingQueue<Integer> saved = new LinkedBlockingQueue<>();
    static boolean slow;

    static void toldRole(String name) throws IOException {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write(name + " " + ProcessHandle.current().pid() + "\n");
            }
    }

    static void save() {
        int step = wanted.getAndSet(-1);
        if (step < 0)
            return;
        try (FileWriter f = new FileWriter("weights-" + step)) {
            if (slow && step == 40)
                Thread.sleep(48000);
            f.write("0.1 ".repeat(100));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            return;
        }
        saved.add(step);
    }

    public static void main(String[] args) throws Exception {
        slow = args.length > 0 && args[0].equals("slow");
        toldRole("main");
        ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(1);
        scheduler.scheduleAtFixedRate(h19_scheduled::save, 0, 1, TimeUnit.SECONDS);
        if (!slow)
            new File("weights-40").mkdir();
        for (int step = 0; step < (slow ? 50 : 400); step++) {
            Thread.sleep(200);
            if (step % 5 == 0)
                System.out.printf("step %d loss %.4f%n", step, 2.5 / (1 + 0.1 * step));
            if (step % 10 == 0) {
                wanted.set(step);
                saved.take();
            }
        }
        scheduler.shutdown();
    }
}
