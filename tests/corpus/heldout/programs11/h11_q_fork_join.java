// A parallel stream over parts, one of which waits 52 s for its mirror; main has done its own and waits.
import java.io.FileWriter;
import java.util.stream.IntStream;

public class h11_q_fork_join {
    static int fetch(int part) {
        try {
            Thread.sleep(part == 9 ? 52000 : 400);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        System.out.println("INFO  part " + part);
        return 1;
    }

    public static void main(String[] args) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null) {
            try (FileWriter f = new FileWriter(path, true)) {
                f.write("main " + ProcessHandle.current().pid() + "\n");
            }
        }
        System.out.println("INFO  parts: " + IntStream.range(0, 16).parallel().map(h11_q_fork_join::fetch).sum());
    }
}
