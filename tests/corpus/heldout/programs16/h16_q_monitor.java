// The trainer waits on a monitor for a thread that works on an upload for 50 s.
import java.io.FileWriter;

public class h16_q_monitor {
    static final Object monitor = new Object();
    static boolean uploaded = false;
    static volatile double kept;

    static void toldRole(String name) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write(name + " " + ProcessHandle.current().pid() + "\n");
            }
    }

    static void upload() {
        long until = System.nanoTime() + 50_000_000_000L;
        double x = 1;
        while (System.nanoTime() < until)
            for (int k = 0; k < 10000; k++)
                x = x * 0.999 + k;
        kept = x;
        synchronized (monitor) {
            uploaded = true;
            monitor.notifyAll();
        }
    }

    public static void main(String[] args) throws Exception {
        toldRole("main");
        for (int step = 0; step < 50; step++) {
            Thread.sleep(200);
            if (step % 5 == 0)
                System.out.println("step " + step);
            if (step == 30) {
                new Thread(h16_q_monitor::upload, "uploader").start();
                synchronized (monitor) {
                    while (!uploaded)
                        monitor.wait();
                }
            }
        }
    }
}
