// A static table of a class cannot be made.
import java.util.Map;

class d9_initializer {
    static class Tables {
        static final Map<String, Integer> SIZES = Map.of("small", 64, "base", 128);
        static final int WIDTH = width("large");

        static int width(String name) {
            Integer size = SIZES.get(name);
            if (size == null) {
                throw new IllegalArgumentException("no model size named large, known are small and base");
            }
            return size;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 8; k++) {
            Thread.sleep(150);
            System.out.println("read file " + k);
        }
        System.out.println(Tables.WIDTH);
    }
}
