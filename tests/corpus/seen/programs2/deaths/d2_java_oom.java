import java.util.*;
public class d2_java_oom {
    public static void main(String[] a) {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; ; i++) { if (i < 10) System.out.printf("step %d loss %.3f%n", i, 2.0 / (i + 1)); kept.add(new byte[1 << 20]); }
    }
}
