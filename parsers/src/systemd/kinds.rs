//! Kinds of systemd's messages.

use crate::event::Kind;

macro_rules! kinds {
    ($($id:ident $name:literal $about:literal)*) => {
        $(pub static $id: Kind = Kind { name: $name, about: $about, words: "" };)*
        /// All of them.
        pub static KINDS: &[&Kind] = &[$(&$id),*];
    };
}

kinds! {
    STARTING "unit_starting" "a start job began; not printed for Type=simple; proves no process yet"
    STARTED "unit_started" "a start job is done: for Type=simple and idle that is fork() only, not exec, not ready; exec: execve; notify: READY=1; forking: the parent ended"
    FINISHED "unit_finished" "a oneshot unit ended (v245+; `Started` before)"
    SKIPPED "unit_skipped" "a condition was not met: nothing was started, although the MESSAGE_ID is that of `Started`"
    START_FAILED "unit_start_failed" "a start job failed; the reason stands in the messages before it"
    DEPENDENCY_FAILED "unit_dependency_failed" "a start job was dropped because another unit failed; nothing was started"
    JOB_FAILED "unit_job_failed" "a job ended with a result other than done"
    STOPPING "unit_stopping" "a stop job began, also as the first half of a restart; the processes still run"
    STOPPED "unit_stopped" "a stop job is done, or (up to v252) an automatic restart passed through stopped; without a `Stopping` before it: a waiting restart was cancelled"
    RELOADING "unit_reloading" "a reload job began"
    RELOADED "unit_reloaded" "a reload job is done; not that the program acted on it"
    MAIN_EXITED "unit_main_exited" "the main process ended with a failure; clean exits are not logged"
    CONTROL_EXITED "unit_control_exited" "a helper process (ExecStartPre, ExecStop, …) ended with a failure"
    FAILED "unit_failed" "the unit is in the failed state; `result` is that of the run (v229 names a watchdog or timeout only by what it did)"
    DEACTIVATED "unit_deactivated" "the unit ended without a failure (v245+)"
    RESTART_DUE "unit_restart_due" "RestartSec is over (v229, v237); where both are printed, unit_restart_scheduled is the same restart"
    RESTART_SCHEDULED "unit_restart_scheduled" "an automatic restart; restart_counter counts them since the last manual start"
    RESTART_SKIPPED "unit_restart_skipped" "an automatic restart was put off or dropped because a stop job waits"
    START_LIMIT "unit_start_limit" "started too often: systemd gives up"
    TIMEOUT "unit_timeout" "a start, stop or other step took too long; `action` is what systemd did"
    WATCHDOG "unit_watchdog" "no WATCHDOG=1 within the limit; systemd kills the unit"
    KILLING "unit_killing" "systemd kills a left process"
    SIGNAL_SENT "unit_signal_sent" "`systemctl kill` sent a signal"
    EXEC_FAILED "unit_exec_failed" "the program could not be executed: it never ran, although `Started` may have been printed"
    OOM_KILLED "unit_oom_killed" "the kernel's or systemd's OOM killer took a process of this unit; not necessarily the main one"
    CONSUMED "unit_consumed" "resources used by the run that ended"
    LEFTOVER "unit_leftover_process" "a process of an earlier run is still there"
    UNIT_LOG "unit_log" "another message about a unit"
    SUPPRESSED "journal_suppressed" "journald dropped messages of this unit: missing lines prove nothing in this window"
    MISSED "journal_missed" "journald lost kernel messages"
    JOURNAL_STARTED "journal_started" "journald began to write; earlier messages of this boot may be missing"
    CLOCK_CHANGED "clock_changed" "the wall clock was set: durations across it need the monotonic clock"
    STARTUP_FINISHED "startup_finished" "the boot is done; says nothing of a single unit"
    SYSTEMD_LOG "systemd_log" "another message of systemd"
}
