//! The end of a run that somebody asks for.

use tokio::sync::watch;

/// How urgently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    Run,
    /// What runs is brought to its end.
    Soon,
    /// Nothing is waited for.
    Now,
}

/// Shared by who asks and who is asked.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<Urgency>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(watch::Sender::new(Urgency::Run))
    }
}

impl Stop {
    /// Nobody has asked.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Asks; who asks again wants it now.
    pub fn ask(&self) {
        self.0.send_modify(|u| *u = if *u == Urgency::Run { Urgency::Soon } else { Urgency::Now });
    }

    /// Asks, and waits for nothing.
    pub fn ask_now(&self) {
        self.0.send_modify(|u| *u = Urgency::Now);
    }

    /// Asks once, whoever else has asked.
    pub fn ask_soon(&self) {
        self.0.send_modify(|u| *u = (*u).max(Urgency::Soon));
    }

    /// Whether anybody asked.
    pub fn asked(&self) -> bool {
        *self.0.borrow() >= Urgency::Soon
    }

    /// Waits for being asked.
    pub async fn soon(&self) {
        self.reaches(Urgency::Soon).await;
    }

    /// Waits for being asked urgently.
    pub async fn now(&self) {
        self.reaches(Urgency::Now).await;
    }

    async fn reaches(&self, urgency: Urgency) {
        let mut seen = self.0.subscribe();
        // The sender lives as long as `self`: this cannot fail.
        let _ = seen.wait_for(|u| *u >= urgency).await;
    }

    /// SIGINT and SIGTERM ask from now on, until the runtime ends. Needs a running tokio.
    pub fn on_signals(&self) -> std::io::Result<()> {
        let stop = self.clone();
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut terminate = signal(SignalKind::terminate())?;
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    stop.ask();
                }
            });
        }
        #[cfg(not(unix))]
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                stop.ask();
            }
        });
        Ok(())
    }
}

/// From now on a terminal's interrupt does not end this process: who it is meant for gets it too.
///
/// # Errors
/// If the system lets no handler be set.
pub fn outlive_interrupts() -> std::io::Result<()> {
    #[cfg(unix)]
    crate::block_on(async {
        // What was taken once stays taken, though nobody listens.
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(drop)
    })??;
    Ok(())
}
