// A class reads its size from the environment when it is first used: "64k" is no number.
public class d16_static_init {
    static class Vocabulary {
        static final int SIZE = Integer.parseInt("64k");
    }

    public static void main(String[] args) throws Exception {
        for (int step = 0; step < 30; step += 5) {
            System.out.println("step " + step);
            Thread.sleep(400);
        }
        System.out.println(Vocabulary.SIZE);
    }
}
