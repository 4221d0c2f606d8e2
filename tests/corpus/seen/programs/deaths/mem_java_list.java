// a list of Java whose limit is larger than the job's
import java.nio.file.*;
import java.util.*;

public class Main {
    public static void main(String[] a) throws Exception {
        Files.writeString(Path.of(System.getenv("CORPUS_ROLES")), "main " + ProcessHandle.current().pid() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        List<byte[]> l = new ArrayList<>();
        while (true) {
            byte[] b = new byte[1 << 20];
            Arrays.fill(b, (byte) 1);
            l.add(b);
            Thread.sleep(10);
        }
    }
}
