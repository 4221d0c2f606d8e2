// ExitOnOutOfMemoryError
import java.util.*;

public class Main {
    static void train(int n) throws Exception { for (int i = 0; i < n; i++) { System.out.println("step " + i); Thread.sleep(20); } }
    public static void main(String[] a) throws Exception { train(20); List<long[]> l = new ArrayList<>(); while (true) l.add(new long[1 << 20]); }
}
