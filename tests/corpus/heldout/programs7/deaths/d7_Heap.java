import java.util.ArrayList;

class Heap {
    public static void main(String[] words) throws Exception {
        ArrayList<long[]> kept = new ArrayList<>();
        for (int n = 0;; n++) {
            kept.add(new long[60000]);
            if (n % 5 == 0)
                System.out.println("cached partition " + n);
            Thread.sleep(20);
        }
    }
}
