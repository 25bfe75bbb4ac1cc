//! Prints the workloads of a process that listens, as they finish: workloads SOCKET [COUNTER]...

use channel::remote::{Line, Remote};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((socket, counters)) = arguments.split_first() else {
        eprintln!("usage: workloads SOCKET [COUNTER]...");
        std::process::exit(2);
    };
    let counters: Vec<&str> = counters.iter().map(|c| &**c).collect();
    let mut remote = Remote::connect(socket)?;
    let info = remote.info()?;
    println!("{} (process {}) on {}", info.program, info.process, info.gpu);
    for line in remote.read(&counters)? {
        match line? {
            Line::Record(r) => {
                let time = r.span[1].saturating_sub(r.span[0]);
                println!(
                    "{} {}: {time} ns, bound by {}",
                    r.kind,
                    r.name,
                    r.bound.as_deref().unwrap_or("nothing")
                );
                for (counter, value) in r.counters {
                    println!("    {counter}: {value}");
                }
            }
            Line::Lost(lost) => println!("{lost} records were lost"),
            Line::Ended => println!("the process ends"),
        }
    }
    Ok(())
}
