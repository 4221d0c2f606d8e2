// An evaluator waits for the fourth checkpoint, an uploader for the second, both on one monitor. The trainer says
// notify(), not notifyAll(): the evaluator wakes, finds it too early and waits again. The trainer waits for the upload.
import java.io.FileWriter;

public class h16_notify_one {
    static final Object monitor = new Object();
    static int checkpoints = 0;
    static boolean uploaded = false;

    static void toldRole(String name) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write(name + " " + ProcessHandle.current().pid() + "\n");
            }
    }

    static void waitFor(int number) throws InterruptedException {
        synchronized (monitor) {
            while (checkpoints < number)
                monitor.wait();
        }
    }

    static Thread start(String name, int number, Runnable then) throws Exception {
        Thread t = new Thread(() -> {
            try {
                waitFor(number);
                then.run();
            } catch (InterruptedException e) {
                throw new RuntimeException(e);
            }
        }, name);
        t.start();
        Thread.sleep(300);
        return t;
    }

    public static void main(String[] args) throws Exception {
        toldRole("main");
        start("evaluator", 4, () -> System.out.println("evaluated"));
        Thread uploader = start("uploader", 2, () -> {
            uploaded = true;
        });
        for (int step = 0; step < 200; step++) {
            Thread.sleep(200);
            if (step % 5 == 0)
                System.out.println("step " + step);
            if (step == 40) {
                synchronized (monitor) {
                    checkpoints = 2;
                    monitor.notify();
                }
                uploader.join();
            }
        }
        System.exit(0);
    }
}
