// an exception that nobody catches, with a cause
import java.util.*;

public class Main {
    static void train(int n) throws Exception { for (int i = 0; i < n; i++) { System.out.println("step " + i); Thread.sleep(20); } }
    public static void main(String[] a) throws Exception { train(20); try { throw new IllegalStateException("index is closed"); } catch (Exception e) { throw new RuntimeException("search failed", e); } }
}
