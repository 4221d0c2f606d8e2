// A class loads its tables for 60 s when it is first used; another thread that uses it waits for that.
import java.io.FileWriter;

class h9_q_class_init {
    static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    static class Vocabulary {
        static int size;

        static {
            for (int k = 0; k < 600; k++) {
                size += 53;
                pause(100);
            }
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
        Thread[] all = new Thread[2];
        for (int k = 0; k < 2; k++) {
            all[k] = new Thread(() -> System.out.println("size " + Vocabulary.size), "reader-" + k);
            all[k].start();
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("tokenizer is ready");
    }
}
