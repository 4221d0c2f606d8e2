import java.nio.file.*;
import java.util.*;
class m3_java_list {
    public static void main(String[] a) throws Exception {
        Files.writeString(Path.of(System.getenv("CORPUS_ROLES")), "main " + ProcessHandle.current().pid() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; ; i++) { byte[] b = new byte[5 << 20]; Arrays.fill(b, (byte) 7); kept.add(b); System.out.println("iter " + i); Thread.sleep(80); }
    }
}
