import java.io.FileWriter;

/** Two classes need each other at their first use, and two threads use them first at the same time. */
class Registry {
    static class Models {
        static final int COUNT;
        static {
            pause(600);
            COUNT = Data.COUNT + 1;
        }
    }

    static class Data {
        static final int COUNT;
        static {
            pause(600);
            COUNT = Models.COUNT + 1;
        }
    }

    static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] words) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write("main " + ProcessHandle.current().pid() + "\n");
            }
        for (int n = 0; n < 20; n++) {
            pause(200);
            System.out.println("INFO scan: directory " + n + " of 20");
        }
        Thread models = new Thread(() -> System.out.println("models " + Models.COUNT), "models");
        models.start();
        System.out.println("data " + Data.COUNT);
        models.join();
    }
}
