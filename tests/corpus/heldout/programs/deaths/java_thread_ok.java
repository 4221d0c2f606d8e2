// an exception in another thread; the job ends well
import java.util.*;

public class Main {
    static void train(int n) throws Exception { for (int i = 0; i < n; i++) { System.out.println("step " + i); Thread.sleep(20); } }
    public static void main(String[] a) throws Exception { new Thread(() -> { throw new RuntimeException("reporter has no endpoint"); }).start(); train(40); }
}
