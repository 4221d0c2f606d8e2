class Init {
    static class Settings {
        static final int WORKERS = Integer.parseInt(System.getProperty("workers", "auto"));
    }

    public static void main(String[] words) throws Exception {
        for (int n = 0; n < 8; n++) {
            System.out.println("indexed " + n);
            Thread.sleep(150);
        }
        System.out.println(Settings.WORKERS);
    }
}
