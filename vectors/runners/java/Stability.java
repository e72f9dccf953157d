// The judge of queries whose answer is a number.
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

class Stability {
    static String judge(Runner.Test test) {
        double[] in = records(test.text("in")), out = records(test.text("out"));
        Double one = in == null || out == null ? null : Example.query(test, in);
        Double other = one == null ? null : Example.query(test, out);
        if (other == null || !test.text("distance").equals("l1")) return null;
        return within(one, other, test.number("bound")) ? "" : one + " and " + other;
    }

    /** Whether the exact difference is at most the bound. */
    static boolean within(double one, double other, double bound) {
        if (!Double.isFinite(one) || !Double.isFinite(other)) return Double.compare(one, other) == 0;
        return new BigDecimal(one).subtract(new BigDecimal(other)).abs().compareTo(new BigDecimal(bound)) <= 0;
    }

    /** The records of count*record,…; null where a record is no number. */
    static double[] records(String runs) {
        List<Double> records = new ArrayList<>();
        for (String run : runs.isEmpty() ? new String[0] : runs.split(",")) {
            String record = run.split("\\*")[1];
            if (!record.matches("-?[0-9].*|-?inf|nan")) return null;
            for (int count = Integer.parseInt(run.split("\\*")[0]); count > 0; count--) records.add(Runner.parsed(record));
        }
        return records.stream().mapToDouble(Double::doubleValue).toArray();
    }
}
