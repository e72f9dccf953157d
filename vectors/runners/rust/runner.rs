// Holds a library in Rust against the vectors, from their lines of text: samplers, maps, and queries with one number.
// rustc -O runner.rs && ./runner ../../1. The library is example.rs: its functions return None where it has no such one.
// Exit code: 1 if a test fails, 2 if none is answered.
use std::{collections::HashMap, fs, io::Read, process};

mod example;
mod stability;

/// The words of a line: name=value.
pub struct Test<'a>(HashMap<&'a str, &'a str>);

impl<'a> Test<'a> {
    pub fn text(&self, name: &str) -> &'a str {
        self.0.get(name).copied().unwrap_or("")
    }
    pub fn number(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or(f64::NAN)
    }
}

/// Random bits: those of a test, the first one most significant, or, where it has none, those of the system.
pub struct Bits<'a> {
    digits: Option<&'a [u8]>,
    place: usize,
    used: usize,
    system: Option<std::io::BufReader<fs::File>>,
}

impl Bits<'_> {
    pub fn take(&mut self, count: u32) -> u64 {
        (0..count).fold(0, |value, _| value << 1 | self.bit())
    }
    fn bit(&mut self) -> u64 {
        self.place += 1;
        match (self.digits, &mut self.system) {
            // Beyond the end they go on as 0101…, so that every sampler stops.
            (Some(_), _) if self.place > self.used => self.place as u64 & 1,
            (Some(digits), _) => {
                let digit = (digits[(self.place - 1) / 4] as char).to_digit(16).unwrap();
                u64::from(digit >> (3 - (self.place - 1) % 4) & 1)
            }
            (None, Some(system)) => system.bytes().next().unwrap().map_or(0, |byte| u64::from(byte & 1)),
            (None, None) => 0,
        }
    }
}

type Verdict = Option<Result<(), String>>; // None: skipped

fn stream(test: &Test) -> Verdict {
    let used = test.number("consumed") as usize;
    let mut bits = Bits { digits: Some(test.text("bits").as_bytes()), place: 0, used, system: None };
    let outcome = example::sample(test, &mut bits)?;
    let right = outcome == test.number("outcome") && bits.place == used;
    Some(if right { Ok(()) } else { Err(format!("{outcome} by {} bits", bits.place)) })
}

fn law(test: &Test) -> Verdict {
    let system = fs::File::open("/dev/urandom").ok().map(std::io::BufReader::new);
    let mut bits = Bits { digits: None, place: 0, used: 0, system };
    let draws = test.number("draws") as usize;
    let outcomes = (0..draws).map(|_| example::sample(test, &mut bits)).collect::<Option<Vec<f64>>>()?;
    for event in test.text("events").split(',') {
        let ends: Vec<f64> = event.split(':').map(|word| word.parse().unwrap_or(f64::NAN)).collect(); // NaN: open
        let count = outcomes.iter().filter(|one| !(**one < ends[0]) && !(**one > ends[1])).count() as f64;
        if count < ends[2] || count > ends[3] {
            return Some(Err(format!("{count} draws of {event}")));
        }
    }
    Some(Ok(()))
}

fn bound(test: &Test) -> Verdict {
    let said = example::map(test)?;
    let low = test.number("low") * (1.0 - 1e-4); // a ten-thousandth may be rounding
    Some(if said.max(0.0) >= low { Ok(()) } else { Err(format!("{said} is less than {low}")) })
}

fn main() {
    let (mut failed, mut answered) = (0, 0);
    for (name, judge) in [("samplers", stream as fn(&Test) -> Verdict), ("maps", bound), ("stability", stability::judge)] {
        let path = format!("{}/{name}.txt", std::env::args().nth(1).expect("the folder of vectors"));
        let mut counts = [0, 0, 0];
        for line in fs::read_to_string(path).expect("a file of vectors").lines() {
            let test = Test(line.split(' ').filter_map(|word| word.split_once('=')).collect());
            let verdict = if test.text("kind") == "law" { law(&test) } else { judge(&test) };
            if let Some(Err(why)) = &verdict {
                println!("FAILED {}: {why}", test.text("id"));
            }
            counts[verdict.map_or(2, |one| usize::from(one.is_err()))] += 1;
        }
        println!("{name}: {} passed, {} failed, {} skipped", counts[0], counts[1], counts[2]);
        failed += counts[1];
        answered += counts[0] + counts[1];
    }
    process::exit(if failed > 0 { 1 } else if answered > 0 { 0 } else { 2 });
}
