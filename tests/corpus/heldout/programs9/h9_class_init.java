// Two classes that need each other are initialized by two threads at once: each thread has begun with one and waits for the other.
import java.io.FileWriter;

class h9_class_init {
    static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    static class Vocabulary {
        static final int SIZE = 32000;
        static int special;

        static {
            pause(500);
            special = Merges.count % 7;
        }
    }

    static class Merges {
        static int count;

        static {
            pause(500);
            count = Vocabulary.SIZE - 256 + Vocabulary.special;
        }
    }

    public static void main(String[] args) throws Exception {
        try (FileWriter f = new FileWriter(System.getenv("CORPUS_ROLES"), true)) {
            f.write("main " + ProcessHandle.current().pid() + "\n");
        }
        for (int k = 0; k < 10; k++) {
            pause(200);
            System.out.println("read file " + k);
        }
        Thread one = new Thread(() -> System.out.println("special " + Vocabulary.special), "vocabulary");
        Thread two = new Thread(() -> System.out.println("merges " + Merges.count), "merges");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("tokenizer is ready");
    }
}
