// A class cannot be made as its setting is no number; that is told as a warning, and what comes later is that the class is not there.
public class d11_initializer {
    static class Settings {
        static final int BATCH = Integer.parseInt("64k");
    }

    static int batch() {
        return Settings.BATCH;
    }

    public static void main(String[] args) throws Exception {
        try {
            System.out.println("batch of " + batch());
        } catch (Throwable e) {
            System.out.println("WARN  no settings yet: " + e);
        }
        for (int k = 0; k < 8; k++) {
            Thread.sleep(150);
            System.out.println("INFO  loaded part " + k);
        }
        System.out.println("INFO  batch of " + batch());
    }
}
