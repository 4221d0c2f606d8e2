// A table that is filled by a parallel stream while its class is made. The stream's threads run a method of that class, for which they wait until it is made.
import java.io.FileWriter;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

public class h11_class_init {
    static class Hashes {
        static final AtomicLong SUM = new AtomicLong();
        static final long[] TABLE = LongStream.range(0, 100000).parallel().map(k -> mix(k)).toArray();

        static long mix(long k) {
            return SUM.addAndGet(k * 0x9E3779B97F4A7C15L);
        }
    }

    public static void main(String[] args) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null) {
            try (FileWriter f = new FileWriter(path, true)) {
                f.write("main " + ProcessHandle.current().pid() + "\n");
            }
        }
        for (int k = 0; k < 10; k++) {
            Thread.sleep(250);
            System.out.println("INFO  read part " + k);
        }
        System.out.println("INFO  table of " + Hashes.TABLE.length);
    }
}
