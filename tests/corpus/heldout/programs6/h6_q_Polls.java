import java.io.FileWriter;
import java.util.concurrent.*;

/** A consumer takes from a queue with a limit of 65 s; its producer has nothing for a while, then sends the rest. */
class Polls {
    public static void main(String[] words) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write("main " + ProcessHandle.current().pid() + "\n");
            }
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
        Thread producer = new Thread(() -> {
            try {
                for (int n = 0; n < 25; n++) {
                    Thread.sleep(n == 15 ? 70000 : 150);
                    queue.put(n);
                }
            } catch (InterruptedException e) {
                return;
            }
        });
        producer.start();
        for (int seen = 0; seen < 25;) {
            Integer n = queue.poll(65, TimeUnit.SECONDS);
            if (n == null)
                continue;
            System.out.println("record " + n);
            seen++;
        }
    }
}
