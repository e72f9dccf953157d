// A subject for Runner.java: randomized response, two maps, two queries. With FLAWED=1 three of them have flaws.
import java.util.stream.DoubleStream;

class Example {
    static final boolean FLAWED = System.getenv("FLAWED") != null;

    static long uniform(long n, Runner.Bits bits) {
        while (true) {
            long drawn = bits.take(64 - Long.numberOfLeadingZeros(n));
            if (drawn < n) return drawn;
        }
    }

    static Double sample(Runner.Test test, Runner.Bits bits) {
        if (!test.text("function").equals("randomized-response")) return null;
        String[] fraction = (test.text("probability") + "/1").split("/");
        double truth = test.number("truth");
        if (uniform(Long.parseLong(fraction[1]), bits) < Long.parseLong(fraction[0])) return truth;
        double lie = uniform((long) test.number("categories") - 1, bits);
        return lie >= truth && !FLAWED ? lie + 1 : lie;
    }

    static Double map(Runner.Test test) {
        return switch (test.text("function")) {
            case "gaussian-zcdp" -> (FLAWED ? 0.25 : 0.5) / test.number("sigma") / test.number("sigma");
            case "laplace-accuracy" -> -test.number("scale") * Math.log(test.number("alpha"));
            default -> null;
        };
    }

    static Double query(Runner.Test test, double[] records) {
        double lower = test.number("lower"), upper = test.number("upper");
        return switch (test.text("function")) {
            case "count" -> (double) DoubleStream.of(records).filter(x -> !FLAWED || x == x).count();
            case "sized-sum" -> DoubleStream.of(records).map(x -> Math.min(Math.max(x, lower), upper)).sum();
            default -> null;
        };
    }
}
