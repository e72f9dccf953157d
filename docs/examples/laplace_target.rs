// A naive Laplace mechanism that speaks the protocol of docs/protocol.md, for data that are one number.
//   rustc -O laplace_target.rs && subnormal check "cmd: ./laplace_target" --in 1 --out 0 --epsilon 1
use std::{fs::File, io::{self, BufRead, Read, Write}};

// Uniform on the multiples of 2^-53 in (0, 1]; then textbook noise.
fn laplace(entropy: &mut impl Read, scale: f64) -> io::Result<f64> {
    let mut bytes = [0; 8];
    entropy.read_exact(&mut bytes)?;
    let word = u64::from_ne_bytes(bytes);
    let noise = -scale * (((word >> 11) + 1) as f64 / (1u64 << 53) as f64).ln();
    Ok(if word & 1 == 0 { noise } else { -noise })
}

// Enough of JSON for requests whose data are a number. Integers beyond 2^53 come as strings.
fn field(line: &str, name: &str) -> Option<f64> {
    let rest = line.split_once(&format!("\"{name}\":"))?.1.trim_start_matches([' ', '"']);
    rest.split([',', '}', '"']).next()?.trim().parse().ok()
}

fn main() -> io::Result<()> {
    let mut entropy = io::BufReader::new(File::open("/dev/urandom")?);
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.contains("\"protocol\"") {
            println!("{{\"protocol\": 1}}");
        } else {
            let number = |name| field(&line, name).ok_or(io::Error::other(format!("no number {name}")));
            let (data, scale, runs) = (number("data")?, 1.0 / number("epsilon")?, number("runs")? as usize);
            let noisy: Result<Vec<String>, io::Error> =
                // {:e} is the shortest decimal that reads back as the float, with an exponent
                (0..runs).map(|_| Ok(format!("{:e}", data + laplace(&mut entropy, scale)?))).collect();
            println!("{{\"outcomes\": [{}]}}", noisy?.join(", "));
        }
        io::stdout().flush()?;
    }
    Ok(())
}
