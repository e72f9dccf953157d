// Holds a library in Java against the vectors, from their lines of text: samplers, maps, and queries with one number.
// javac *.java && java Runner ../../1. The library is Example.java: its methods return null where it has no such function.
// Exit code: 1 if a test fails, 2 if none is answered.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

public class Runner {
    /** The words of a line: name=value. */
    record Test(Map<String, String> words) {
        static Test of(String line) {
            Map<String, String> words = new HashMap<>();
            for (String word : line.split(" ")) words.put(word.split("=", 2)[0], word.split("=", 2)[1]);
            return new Test(words);
        }

        String text(String name) { return words.getOrDefault(name, ""); }
        double number(String name) { return parsed(text(name)); }
    }

    /** Random bits: those of a test, the first one most significant, or, where it has none, those of a generator. */
    static class Bits {
        final String digits;
        final int used;
        final RandomGenerator random = new java.security.SecureRandom();
        int place = 0;

        Bits(String digits, int used) { this.digits = digits; this.used = used; }

        long take(int count) {
            if (digits == null) return count == 0 ? 0 : random.nextLong() >>> (64 - count);
            long value = 0;
            for (; count > 0; count--, place++) value = 2 * value + (place < used
                ? Character.digit(digits.charAt(place / 4), 16) >> (3 - place % 4) & 1
                : place & 1); // beyond the end they go on as 0101…, so that every sampler stops
            return value;
        }
    }

    static double parsed(String text) {
        return switch (text) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            case "nan", "-" -> Double.NaN;
            default -> text.matches("-?[0-9].*") ? Double.parseDouble(text) : Double.NaN;
        };
    }

    /** What is wrong; empty where nothing is, null where the library has no such function. */
    static String stream(Test test) {
        Bits bits = new Bits(test.text("bits"), (int) test.number("consumed"));
        Double outcome = Example.sample(test, bits);
        return outcome == null ? null : outcome == test.number("outcome") && bits.place == bits.used ? "" : outcome + " by " + bits.place + " bits";
    }

    static String law(Test test) {
        Bits bits = new Bits(null, 0);
        List<Double> outcomes = new ArrayList<>();
        for (int draws = (int) test.number("draws"); draws > 0; draws--) {
            Double outcome = Example.sample(test, bits);
            if (outcome == null) return null;
            outcomes.add(outcome);
        }
        for (String event : test.text("events").split(",")) {
            String[] ends = event.split(":");
            double low = parsed(ends[0]), high = parsed(ends[1]); // NaN: open
            long count = outcomes.stream().filter(one -> !(one < low) && !(one > high)).count();
            if (count < parsed(ends[2]) || count > parsed(ends[3])) return count + " draws of " + event;
        }
        return "";
    }

    static String bound(Test test) {
        Double said = Example.map(test);
        double low = test.number("low") * (1 - 1e-4); // a ten-thousandth may be rounding
        return said == null ? null : Math.max(said, 0) >= low ? "" : said + " is less than " + low;
    }

    public static void main(String[] folder) throws IOException {
        int failed = 0, answered = 0;
        for (String name : List.of("samplers", "maps", "stability")) {
            int passed = 0, wrong = 0, skipped = 0;
            for (String line : Files.readAllLines(Path.of(folder[0], name + ".txt"))) {
                Test test = Test.of(line);
                String why = name.equals("maps") ? bound(test) : name.equals("stability") ? Stability.judge(test)
                    : test.text("kind").equals("law") ? law(test) : stream(test);
                if (why == null) skipped++; else if (why.isEmpty()) passed++; else wrong++;
                if (why != null && !why.isEmpty()) System.out.println("FAILED " + test.text("id") + ": " + why);
            }
            System.out.printf("%s: %d passed, %d failed, %d skipped%n", name, passed, wrong, skipped);
            failed += wrong; answered += passed + wrong;
        }
        System.exit(failed > 0 ? 1 : answered > 0 ? 0 : 2);
    }
}
