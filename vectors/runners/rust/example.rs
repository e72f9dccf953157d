// A subject for runner.rs: randomized response, two maps, two queries. With FLAWED=1 three of them have flaws.
use super::{Bits, Test};

fn flawed() -> bool {
    std::env::var("FLAWED").is_ok()
}

fn uniform(n: u64, bits: &mut Bits) -> u64 {
    loop {
        let drawn = bits.take(64 - n.leading_zeros());
        if drawn < n {
            return drawn;
        }
    }
}

pub fn sample(test: &Test, bits: &mut Bits) -> Option<f64> {
    if test.text("function") != "randomized-response" {
        return None;
    }
    let (top, bottom) = test.text("probability").split_once('/').unwrap_or((test.text("probability"), "1"));
    let truth = test.number("truth");
    if uniform(bottom.parse().ok()?, bits) < top.parse().ok()? {
        return Some(truth);
    }
    let lie = uniform(test.number("categories") as u64 - 1, bits) as f64;
    Some(if lie >= truth && !flawed() { lie + 1.0 } else { lie })
}

pub fn map(test: &Test) -> Option<f64> {
    match test.text("function") {
        "gaussian-zcdp" => Some((if flawed() { 0.25 } else { 0.5 }) / test.number("sigma").powi(2)),
        "laplace-accuracy" => Some(-test.number("scale") * test.number("alpha").ln()),
        _ => None,
    }
}

pub fn query(test: &Test, records: &[f64]) -> Option<f64> {
    let clamped = |x: &f64| x.max(test.number("lower")).min(test.number("upper"));
    match test.text("function") {
        "count" => Some(records.iter().filter(|x| !flawed() || !x.is_nan()).count() as f64),
        "sized-sum" => Some(records.iter().map(clamped).sum()),
        _ => None,
    }
}
