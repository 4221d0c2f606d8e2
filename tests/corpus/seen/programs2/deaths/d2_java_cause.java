public class d2_java_cause {
    static void read() { throw new IllegalArgumentException("part-00003: no column 'label' in schema"); }
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 10; i++) { System.out.printf("step %d loss %.3f%n", i, 2.0 / (i + 1)); Thread.sleep(30); }
        try { read(); } catch (RuntimeException e) { throw new RuntimeException("Job aborted due to stage failure", e); }
    }
}
