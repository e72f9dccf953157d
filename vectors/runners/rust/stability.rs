// The judge of queries whose answer is a number.
use super::{example, Test, Verdict};

pub fn judge(test: &Test) -> Verdict {
    let (one, other) = (example::query(test, &dataset(test.text("in"))?)?, example::query(test, &dataset(test.text("out"))?)?);
    if test.text("distance") != "l1" {
        return None;
    }
    let bound = test.number("bound");
    Some(if within(one.max(other), one.min(other), bound) || one == other { Ok(()) } else { Err(format!("{one}, {other}")) })
}

/// Whether the exact difference is at most the bound: Dekker's TwoSum tells what its rounding leaves out.
fn within(high: f64, low: f64, bound: f64) -> bool {
    let apart = high - low;
    let part = apart - high;
    let left_out = (high - (apart - part)) + (-low - part);
    apart < bound || (apart == bound && left_out <= 0.0)
}

/// The records of `count*record,…`; None where a record is no number.
fn dataset(runs: &str) -> Option<Vec<f64>> {
    let mut records = Vec::new();
    for run in runs.split(',').filter(|run| !run.is_empty()) {
        let (count, record) = run.split_once('*')?;
        let (count, record): (usize, f64) = (count.parse().ok()?, record.parse().ok()?);
        records.extend(std::iter::repeat(record).take(count));
    }
    Some(records)
}
