//! `corr cluster`: a scheduler and executors of Apache Ballista, for `--cluster`.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;

#[cfg(feature = "cluster")]
use super::exit;

/// Run the nodes of a cluster that `corr sql --cluster` and `corr query --cluster` ask.
///
/// The nodes are Apache Ballista's scheduler and executor. They trust whoever reaches their ports: keep them on a private network.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  corr cluster up --executors 2                           all on this machine, for trying; Ctrl-C ends it
  corr cluster scheduler --bind 0.0.0.0                   on one machine
  corr cluster executor --scheduler head:50050 --bind 10.0.0.7      on each of the others
  corr index runs/r42 --shards /mnt/shared/r42            tables where every machine reads them
  corr sql /mnt/shared/r42 'SELECT count(*) FROM events' --cluster df://head:50050
  corr query /mnt/shared/r42 'level:>=warn' --cluster df://head:50050

Shards at s3://BUCKET/PREFIX: each process takes address and key from its environment (AWS_ENDPOINT, AWS_REGION, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_ALLOW_HTTP).")]
pub struct Args {
    #[command(subcommand)]
    node: Node,
}

#[derive(Subcommand, Debug)]
enum Node {
    /// A scheduler and executors on this machine, each a process, until Ctrl-C.
    Up {
        /// How many executors.
        #[arg(long, value_name = "N", default_value_t = 2)]
        executors: u16,
        /// Port of the scheduler.
        #[arg(long, value_name = "PORT", default_value_t = 50_050)]
        port: u16,
    },
    /// A scheduler, until it is ended.
    Scheduler {
        /// Address that it listens on.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
        bind: String,
        #[arg(long, value_name = "PORT", default_value_t = 50_050)]
        port: u16,
    },
    /// An executor, until it is ended.
    Executor {
        /// The scheduler that it works for.
        #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
        scheduler: String,
        /// IP address that it listens on.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
        bind: String,
        /// Name or address under which the other machines reach it, where that is another.
        #[arg(long, value_name = "HOST")]
        external: Option<String>,
        /// Port for results; 0 takes a free one.
        #[arg(long, value_name = "PORT", default_value_t = 0)]
        port: u16,
        /// Port for tasks; 0 takes a free one.
        #[arg(long, value_name = "PORT", default_value_t = 0)]
        task_port: u16,
        /// Tasks at once; 0 for one a core.
        #[arg(long, value_name = "N", default_value_t = 0)]
        threads: usize,
        /// What all its tasks may hold in memory.
        #[arg(long, value_name = "SIZE", default_value = "2GiB")]
        memory: String,
        /// Where results of stages are kept while a question is answered; a temporary directory if it is not given.
        #[arg(long, value_name = "DIR")]
        work_dir: Option<PathBuf>,
    },
}

/// Says how to get it.
#[cfg(not(feature = "cluster"))]
pub fn run(_: &Args, _: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    super::sql::not_built("a cluster", "cluster", err)
}

/// Runs the command.
#[cfg(feature = "cluster")]
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    use anyhow::Context as _;
    use corr_sql::cluster::{Executor, Scheduler};

    use crate::tables::sql::functions;

    match &args.node {
        Node::Up { executors, port } => return up(*executors, *port, out, err),
        Node::Scheduler { bind, port } => Scheduler { bind: bind.clone(), port: *port, functions: functions::asking() }.run()?,
        Node::Executor { scheduler, bind, external, port, task_port, threads, memory, work_dir } => {
            let (host, of) = scheduler.rsplit_once(':').context("--scheduler HOST:PORT")?;
            let of: u16 = of.parse().with_context(|| format!("--scheduler {scheduler}: no port"))?;
            let threads = if *threads == 0 { super::sql::threads() } else { *threads };
            let temp = tempfile::TempDir::with_prefix("corr-executor-")?;
            let executor = Executor {
                bind: bind.clone(),
                external: external.clone(),
                ports: (free(bind, *port)?, free(bind, *task_port)?),
                scheduler: (host.to_string(), of),
                threads,
                work_dir: Some(work_dir.clone().unwrap_or_else(|| temp.path().to_path_buf())),
                memory: u64::try_from(super::sql::bytes(memory)?)?,
                functions: functions::asking(),
            };
            executor.run()?;
        }
    }
    Ok(exit::FOUND)
}

/// The port, or a free one.
#[cfg(feature = "cluster")]
fn free(bind: &str, port: u16) -> anyhow::Result<u16> {
    if port != 0 {
        return Ok(port);
    }
    Ok(std::net::TcpListener::bind((bind, 0))?.local_addr()?.port())
}

/// Starts the nodes as processes of this machine and waits for Ctrl-C, or for one of them to end.
#[cfg(feature = "cluster")]
fn up(executors: u16, port: u16, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<i32> {
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;

    /// Between two looks at the nodes.
    const LOOK: Duration = Duration::from_millis(100);
    /// Ctrl-C comes to the nodes too: one that has ended may have ended of that.
    const SAME: Duration = Duration::from_millis(500);

    /// The processes that were started; they end with this one.
    struct Nodes(Vec<(String, Child)>);

    impl Nodes {
        /// One that has ended.
        fn ended(&mut self) -> std::io::Result<Option<(&str, ExitStatus)>> {
            for (name, node) in &mut self.0 {
                if let Some(status) = node.try_wait()? {
                    return Ok(Some((name, status)));
                }
            }
            Ok(None)
        }
    }

    impl Drop for Nodes {
        fn drop(&mut self) {
            for (_, node) in &mut self.0 {
                // One that has ended already cannot be ended again.
                let _ = node.kill();
                let _ = node.wait();
            }
        }
    }

    let program = std::env::current_exe()?;
    let start = |name: String, arguments: &[&str]| -> anyhow::Result<(String, Child)> {
        let child = Command::new(&program).arg("cluster").args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        Ok((name, child))
    };
    // A port that somebody has is said here; the scheduler's own words come from the transport.
    drop(std::net::TcpListener::bind(("127.0.0.1", port)).map_err(|e| anyhow::anyhow!("port {port}: {e}; --port takes another"))?);
    let (stop, stopped) = mpsc::channel();
    corr_sql::cluster::on_interrupt(move || {
        // Nobody who waits for it is gone already.
        let _ = stop.send(());
    })?;
    // `None` as long as all runs; the code when it is to end.
    let wait = |nodes: &mut Nodes, err: &mut dyn Write| -> anyhow::Result<Option<i32>> {
        if stopped.recv_timeout(LOOK).is_ok() {
            return Ok(Some(exit::FOUND));
        }
        let Some((name, status)) = nodes.ended()? else { return Ok(None) };
        if stopped.recv_timeout(SAME).is_ok() {
            return Ok(Some(exit::FOUND));
        }
        writeln!(err, "corr: {name} ended: {status}; the others are ended too")?;
        Ok(Some(exit::ERROR))
    };
    let scheduler = format!("127.0.0.1:{port}");
    let mut nodes = Nodes(vec![start("scheduler".into(), &["scheduler", "--port", &port.to_string()])?]);
    while std::net::TcpStream::connect(&scheduler).is_err() {
        if let Some(code) = wait(&mut nodes, err)? {
            return Ok(code);
        }
    }
    let threads = super::sql::threads().div_ceil(usize::from(executors.max(1))).to_string();
    for number in 1..=executors {
        nodes.0.push(start(format!("executor {number}"), &["executor", "--scheduler", &scheduler, "--threads", &threads])?);
    }
    for (name, node) in &nodes.0 {
        writeln!(out, "{name}: process {}", node.id())?;
    }
    writeln!(out, "ask it: corr sql SHARDS 'SELECT …' --cluster df://{scheduler}")?;
    out.flush()?;
    loop {
        if let Some(code) = wait(&mut nodes, err)? {
            return Ok(code);
        }
    }
}
