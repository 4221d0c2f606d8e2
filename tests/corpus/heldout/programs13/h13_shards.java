import java.io.*;
import java.util.concurrent.*;

/**
 * Each 300 ms a scheduled task looks for a new shard and puts it into the queue from which main trains. It has met a
 * shard without a size and thrown; such a task is not run again, and nobody is told. Main waits for the queue.
 */
class Shards {
    static final BlockingQueue<String> QUEUE = new LinkedBlockingQueue<>();
    static int next = 0;

    static void look() {
        String size = next == 14 ? "n/a" : "100" + next;
        QUEUE.add("shard-" + next++ + " of " + Integer.parseInt(size) + " rows");
    }

    public static void main(String[] args) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write("main " + ProcessHandle.current().pid() + "\n");
            }
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        clock.scheduleAtFixedRate(Shards::look, 0, 300, TimeUnit.MILLISECONDS);
        for (int step = 0; step < 60; step++)
            System.out.println("step " + step + "/60 " + QUEUE.take());
        clock.shutdown();
    }
}
